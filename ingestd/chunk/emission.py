"""Writes drafts out as chunks, none of them over the cap."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from ingestd.chunk.atoms import BETWEEN_WORDS, Atom
from ingestd.chunk.cascade import Request, split_blocks
from ingestd.chunk.drafts import Draft, Written, leading, written
from ingestd.chunk.levels import halves
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.wraps import NO_WRAP, wrap
from ingestd.model.chunk import Chunk
from ingestd.model.document import BlockType

_Counted = tuple[Draft, Written, int]
_BATCH = 2048
"""Drafts that are in memory at once: of tiny sections there may be as many as there are hundreds of characters."""


def chunks(manuscript: Manuscript, title: str, drafts: Iterable[Draft], *, tiled: bool) -> tuple[Chunk, ...]:
    """Chunks of the drafts, in order.

    Parameters
    ----------
    tiled
        Whether a chunk reaches to the beginning of the next, so that together they are the whole Markdown; otherwise
        it ends with its last block.

    Raises
    ------
    ValueError
        When a single character, alone, is over the cap.
    """
    counted = _new(_all(manuscript, drafts))
    made: list[Chunk] = []
    begin = 0
    each = next(counted, None)
    while each is not None:
        following = next(counted, None)
        first, last = each[0].atoms[0], each[0].atoms[-1]
        if tiled:
            end = len(manuscript.markdown) if following is None else following[0].atoms[0].start
            made.append(_chunk(manuscript, title, each, len(made), (begin, end)))
            begin = end
        else:
            made.append(_chunk(manuscript, title, each, len(made), (first.start, last.end)))
        each = following
    return tuple(made)


def _chunk(manuscript: Manuscript, title: str, counted: _Counted, index: int, span: tuple[int, int]) -> Chunk:
    draft, strings, tokens = counted
    blocks = manuscript.blocks
    numbers = dict.fromkeys([atom.block for atom in draft.atoms])
    pages = [page for number in numbers if (page := blocks[number].page) is not None]
    return Chunk(
        text=strings.text,
        body=strings.body,
        heading_path=manuscript.paths.full(draft.section),
        title=title,
        section=manuscript.sections[draft.section].name,
        char_start=span[0],
        char_end=span[1],
        page_start=min(pages, default=None),
        page_end=max(pages, default=None),
        block_types=_types(frozenset([blocks[number].type for number in numbers])),
        index=index,
        n_chars=len(strings.body),
        n_tokens=tokens,
    )


@cache
def _types(kinds: frozenset[BlockType]) -> tuple[str, ...]:
    """Names of the types, sorted; of one set always the same tuple, since most chunks have one of a few."""
    return tuple(sorted(kind.value for kind in kinds))


def _all(manuscript: Manuscript, drafts: Iterable[Draft]) -> Iterator[_Counted]:
    rest = iter(drafts)
    while batch := list(islice(rest, _BATCH)):
        yield from _fitting(manuscript, batch)


def _fitting(manuscript: Manuscript, drafts: Sequence[Draft]) -> list[_Counted]:
    """Drafts with their exact strings and counts; those over the cap are halved until they are not.

    Sums of counts decided the drafts, and no tokenizer is exactly additive, so the exact strings are counted in one
    call. Each further round halves what was over: there are at most about as many as the logarithm of the longest.
    """
    done: dict[tuple[int, ...], _Counted] = {}
    pending: list[tuple[tuple[int, ...], Draft]] = [((number,), draft) for number, draft in enumerate(drafts)]
    while pending:
        strings = [written(manuscript, draft) for _, draft in pending]
        counts = manuscript.counter.exact([each.text for each in strings])
        over: list[tuple[tuple[int, ...], Draft]] = []
        for (place, draft), each, tokens in zip(pending, strings, counts, strict=True):
            if manuscript.scale.fits(tokens, len(each.text)):
                done[place] = (draft, each, tokens)
            else:
                over.extend(((*place, part), half) for part, half in enumerate(_halved(manuscript, draft, tokens)))
        pending = over
    return [done[place] for place in sorted(done)]


def _new(counted: Iterable[_Counted]) -> Iterator[_Counted]:
    """Those that say something alone: half of a draft may be no more than what it, or the next one, repeats."""
    before: _Counted | None = None
    for each in counted:
        if before is not None:
            if each[0].atoms[-1].end <= before[0].atoms[-1].end:
                continue
            if each[0].atoms[0].start > before[0].atoms[0].start:
                yield before
        before = each
    if before is not None:
        yield before


def _halved(manuscript: Manuscript, draft: Draft, tokens: int) -> Iterable[Draft]:
    heads = leading(manuscript, draft)
    head, body = draft.atoms[:heads], draft.atoms[heads:]
    if len(body) > 1:
        cut = _middle(body)
        return tuple(_part(manuscript, draft, atoms) for atoms in (head + body[:cut], body[cut:]))
    last = draft.atoms[-1]
    parts = _split(manuscript, last)
    if parts != (last,):
        return tuple(_part(manuscript, draft, atoms) for atoms in (head + parts[:1], *zip(parts[1:])))
    if not draft.bare:
        return (replace(draft, bare=True),)
    raise ValueError(
        f"the limit of {manuscript.scale.token_cap} tokens is below the {tokens} that the tokenizer gives the text at "
        f"character {last.start}; raise max_size or max_tokens"
    )


def _part(manuscript: Manuscript, draft: Draft, atoms: tuple[Atom, ...]) -> Draft:
    """Some of the draft's atoms, with the innermost section that holds them; a heading at their beginning is above it."""
    section = manuscript.section_of[atoms[-1].block]
    for atom in reversed(atoms):
        other = manuscript.section_of[atom.block]
        if not (manuscript.is_heading(atom.block) and manuscript.holds(other, section)):
            while not manuscript.holds(section, other):
                section = manuscript.sections[section].parent
    return replace(draft, atoms=atoms, section=section)


def _split(manuscript: Manuscript, atom: Atom) -> tuple[Atom, ...]:
    """The atom in several; when it cannot be cut, without what stands around it."""
    block = manuscript.blocks[atom.block]
    half = manuscript.scale.size(atom.tokens, atom.end - atom.start) / 2
    if (atom.start, atom.end) == (block.start, block.end) and half > 0:
        room = manuscript.budget(manuscript.section_of[atom.block])
        request = Request(block=atom.block, budget=half, goal=half, cut=atom.cut, room=room)
        parts = split_blocks(manuscript, [request])[0]
        if len(parts) > 1:
            return parts
    spans = halves(manuscript.markdown, block, (atom.start, atom.end), manuscript.segmenter)
    if spans == [(atom.start, atom.end)]:
        return (replace(atom, before="", after=""),)
    counts = manuscript.counter.net([manuscript.markdown[start:end] for start, end in spans], atom.end - atom.start)
    # A first or last part of a block lacks what the parts between have on that side.
    around = wrap(manuscript.markdown, block) if atom.before or atom.after else NO_WRAP
    last = len(spans) - 1
    return tuple(
        replace(
            atom,
            start=start,
            end=end,
            tokens=tokens,
            cut=BETWEEN_WORDS if number else atom.cut,
            before=atom.before or around.before if number else atom.before,
            after=atom.after or around.after if number < last else atom.after,
        )
        for number, ((start, end), tokens) in enumerate(zip(spans, counts, strict=True))
    )


def _middle(atoms: Sequence[Atom]) -> int:
    """Where to cut so that the larger part is as small as it can be."""
    total = sum(atom.tokens + 1 for atom in atoms)
    before, best, cut = 0, total, 1
    for index in range(1, len(atoms)):
        before += atoms[index - 1].tokens + 1
        if max(before, total - before) < best:
            best, cut = max(before, total - before), index
    return cut
