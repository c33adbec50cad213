"""Formulas together with the sentences that they stand in."""

from collections.abc import Iterable, Iterator, Sequence

from ingestd.chunk.compat.grain_growth.blocks import Block, Read, page_of, text_of
from ingestd.chunk.compat.grain_growth.fences import fence
from ingestd.chunk.compat.grain_growth.prose import ends_in_stop, split_sentences

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
    for start, stop in _groups(kinds, texts):
        bound.extend(given[done:start])
        group = given[start:stop]
        bound.append(
            {"type": "bound", "text": BETWEEN.join(texts[start:stop]), "page": page_of(group[0]), "members": group}
        )
        done = stop
    return bound + given[done:]


def bind(kept: Sequence[Read]) -> list[Read]:
    """As `bind_formula_groups`, for blocks that were read."""
    bound: list[Read] = []
    done = 0
    for start, stop in _groups([one.type for one in kept], [one.text for one in kept]):
        bound.extend(kept[done:start])
        group = tuple(kept[start:stop])
        bound.append(Read("bound", "", group[0].page, group[0].at, None, group))
        done = stop
    bound.extend(kept[done:])
    return bound


def render(members: Iterable[Read]) -> str:
    """Members one below the other, formulas fenced."""
    return BETWEEN.join(fence("formula", one.text) if one.type == "formula" else one.text for one in members)


def cut_lead(members: Sequence[Read], max_chars: float, lead_sentences: int) -> tuple[str | None, tuple[Read, ...]]:
    """What of the leading paragraph goes into a chunk before, then what stays together.

    As many of its last sentences stay as are asked for, or as fit with the rest.
    """
    if members[0].type != "paragraph":
        return None, tuple(members)
    lead, rest = members[0], tuple(members[1:])
    sentences = split_sentences(lead.text)
    staying = _staying(sentences, max_chars - len(render(rest)), lead_sentences)
    if staying is None:
        return lead.text, rest
    front, tail = sentences[: len(sentences) - staying], sentences[len(sentences) - staying :]
    kept = (lead._replace(text=" ".join(tail)), *rest) if tail else rest
    return " ".join(front) or None, kept


def _groups(kinds: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of blocks that are bound."""
    free = 0
    start = _next_formula(kinds, 0)
    while start is not None:
        stop = start
        while stop < len(kinds) and kinds[stop] == "formula":
            stop += 1
        leads = start > free and kinds[start - 1] == "paragraph" and not ends_in_stop(texts[start - 1])
        trails = stop < len(kinds) and kinds[stop] == "paragraph" and _goes_on(texts[stop])
        if leads or trails:
            yield start - leads, stop + trails
            free = stop + trails
        start = _next_formula(kinds, stop)


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
