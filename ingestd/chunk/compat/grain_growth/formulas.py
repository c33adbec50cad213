"""Formulas together with the sentences that they stand in."""

from collections.abc import Iterable, Iterator, Sequence

from ingestd.chunk.compat.grain_growth.blocks import Block, page_of, text_of
from ingestd.chunk.compat.grain_growth.fences import fence
from ingestd.chunk.compat.grain_growth.prose import ends_in_stop, split_sentences
from ingestd.chunk.compat.grain_growth.reading import Reading

BETWEEN = "\n\n"


def bind_formula_groups(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, each run of formulas bound to the paragraphs whose sentence it belongs to.

    A paragraph before the run that does not end in a stop leads it; one after it that begins with a lower-case letter
    trails it. Blocks that are bound become one of type ``bound`` with ``members``; the others stay the same objects.

    Raises
    ------
    ValueError
        A block's text is no string.
    """
    given = list(blocks)
    kinds = [block["type"] for block in given]
    texts = [text_of(block, at) for at, block in enumerate(given)]
    bound: list[Block] = []
    done = 0
    for start, stop in groups(kinds, texts):
        bound.extend(given[done:start])
        group = given[start:stop]
        bound.append(
            {"type": "bound", "text": BETWEEN.join(texts[start:stop]), "page": page_of(group[0]), "members": group}
        )
        done = stop
    return bound + given[done:]


def groups(kinds: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of blocks that are bound, in order."""
    free = 0
    start = _next_formula(kinds, 0)
    while start is not None:
        stop = start
        while stop < len(kinds) and kinds[stop] == "formula":
            stop += 1
        leads = start > free and kinds[start - 1] == "paragraph" and not ends_in_stop(texts[start - 1])
        trails = stop < len(kinds) and kinds[stop] == "paragraph" and _goes_on(texts[stop])
        if leads or trails:
            free = stop + trails
            yield start - leads, free
        start = _next_formula(kinds, stop)


def render(group: Reading) -> str:
    """Members one below the other, formulas fenced."""
    return BETWEEN.join(
        [
            fence("formula", text) if kind == "formula" else text
            for kind, text in zip(group.kinds, group.texts, strict=True)
        ]
    )


def cut_lead(group: Reading, max_chars: float, lead_sentences: int) -> tuple[str | None, Reading]:
    """What of the leading paragraph goes into a chunk before, then what stays together.

    As many of its last sentences stay as are asked for, or as fit with the rest.
    """
    if group.kinds[0] != "paragraph":
        return None, group
    rest = group.part(1, len(group.kinds))
    sentences = split_sentences(group.texts[0])
    staying = _staying(sentences, max_chars - len(render(rest)), lead_sentences)
    if staying is None:
        return group.texts[0], rest
    front, tail = sentences[: len(sentences) - staying], sentences[len(sentences) - staying :]
    kept = group._replace(texts=[" ".join(tail), *rest.texts]) if tail else rest
    return " ".join(front) or None, kept


def _next_formula(kinds: Sequence[str], start: int) -> int | None:
    try:
        return kinds.index("formula", start)
    except ValueError:
        return None


def _goes_on(text: str) -> bool:
    first = text.lstrip()[:1]
    return first.isalpha() and first.islower()


def _staying(sentences: Sequence[str], room: float, most: int) -> int | None:
    """Sentences from the end that fit, with the gap after them; None when not even the rest alone fits."""
    if most < 0 or room < 0:
        return None
    fitting = 0
    length = 1
    for count, sentence in enumerate(reversed(sentences[max(0, len(sentences) - most) :]), start=1):
        length += len(sentence) + 1
        if length > room:
            break
        fitting = count
    return fitting
