"""What moves between two ways to cut one document."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingestd.model.chunk import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Chunks that stand for one stretch of the document and differ; one side may have none."""

    kept_before: int
    """Chunks since the change before it that are the same on both sides."""
    before: tuple[Chunk, ...]
    after: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every chunk of both sides, either kept or in a change."""

    changes: tuple[Change, ...]
    """In document order."""
    kept: int
    """Chunks of the same place and text."""
    moved: int
    """Other chunks after whose text was there before: nothing to embed."""
    new: int
    """Chunks after whose text was nowhere before."""
    gone: int
    """Chunks before whose text is nowhere after."""
    texts_to_embed: int
    """Distinct texts after that were nowhere before."""
    tokens_to_embed: int
    """Of these texts, special tokens included."""
    boundaries: tuple[int, int, int] | None
    """Places where a chunk begins or ends: before, after, on both sides; ``None`` across two Markdown texts."""

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return not self.changes


def compare(before: Sequence[Chunk], after: Sequence[Chunk], *, same_markdown: bool = True) -> Comparison:
    """Compare the chunks of one document, each side in its order.

    A chunk is kept when place and text are those of a chunk of the other side, and no two kept ones cross. What lies
    between kept ones is cut into changes wherever no chunk of either side reaches across. Chunks may overlap.

    The time grows with ``n log n`` for ``n`` chunks, however much of them differs.

    Parameters
    ----------
    same_markdown
        Whether the offsets of both sides count in the same Markdown; where not, texts alone are compared.
    """
    pairs = _kept(before, after, _place_and_text if same_markdown else _text)
    texts_before, texts_after = {chunk.text for chunk in before}, {chunk.text for chunk in after}
    kept_after = {j for _, j in pairs}
    others = [chunk for j, chunk in enumerate(after) if j not in kept_after]
    to_embed = {chunk.text: chunk.n_tokens for chunk in others if chunk.text not in texts_before}
    new = sum(chunk.text in to_embed for chunk in others)
    return Comparison(
        changes=tuple(_changes(before, after, pairs, same_markdown=same_markdown)),
        kept=len(pairs),
        moved=len(others) - new,
        new=new,
        gone=sum(chunk.text not in texts_after for chunk in before),
        texts_to_embed=len(to_embed),
        tokens_to_embed=sum(to_embed.values()),
        boundaries=_boundaries(before, after) if same_markdown else None,
    )


def _place_and_text(chunk: Chunk) -> Hashable:
    return chunk.char_start, chunk.char_end, chunk.text


def _text(chunk: Chunk) -> Hashable:
    return chunk.text


def _kept(before: Sequence[Chunk], after: Sequence[Chunk], key: Callable[[Chunk], Hashable]) -> list[tuple[int, int]]:
    """Pairs of indices of like chunks, as many as do not cross: both sides rise."""
    places = {one: j for j, one in enumerate(_numbered(after, key))}
    pairs = [(i, places[one]) for i, one in enumerate(_numbered(before, key)) if one in places]
    return [pairs[at] for at in _longest_rise([j for _, j in pairs])]


def _numbered(chunks: Iterable[Chunk], key: Callable[[Chunk], Hashable]) -> list[Hashable]:
    """Keys that are each there once: the same key again is the second of its kind."""
    seen: dict[Hashable, int] = {}
    numbered: list[Hashable] = []
    for chunk in chunks:
        one = key(chunk)
        seen[one] = seen.get(one, 0) + 1
        numbered.append((one, seen[one]))
    return numbered


def _longest_rise(numbers: Sequence[int]) -> list[int]:
    """Indices of a longest rising part of different numbers."""
    ends: list[int] = []
    """The least number that a rise of each length ends with."""
    at_end: list[int] = []
    back: list[int] = []
    for at, number in enumerate(numbers):
        length = bisect_left(ends, number)
        back.append(at_end[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        at_end[length : length + 1] = [at]
    rise: list[int] = []
    at = at_end[-1] if at_end else -1
    while at >= 0:
        rise.append(at)
        at = back[at]
    return rise[::-1]


def _changes(
    before: Sequence[Chunk], after: Sequence[Chunk], pairs: Sequence[tuple[int, int]], *, same_markdown: bool
) -> Iterator[Change]:
    kept, i, j = 0, 0, 0
    for next_i, next_j in (*pairs, (len(before), len(after))):
        olds, news = before[i:next_i], after[j:next_j]
        for old, new in _stretches(olds, news) if same_markdown else [(olds, news)]:
            if old or new:
                yield Change(kept_before=kept, before=tuple(old), after=tuple(new))
                kept = 0
        kept, i, j = kept + 1, next_i + 1, next_j + 1


def _stretches(before: Sequence[Chunk], after: Sequence[Chunk]) -> Iterator[tuple[Sequence[Chunk], Sequence[Chunk]]]:
    """Both sides, cut wherever no chunk of either reaches across."""
    sides = [(chunk, True) for chunk in before] + [(chunk, False) for chunk in after]
    # Stable: chunks that begin at one place keep the order of their side.
    sides.sort(key=lambda side: side[0].char_start)
    stretch, reach = 0, 0
    numbers: list[int] = []
    for chunk, _ in sides:
        if chunk.char_start >= reach:
            stretch += 1
        reach = max(reach, chunk.char_end)
        numbers.append(stretch)
    for _, group in groupby(zip(numbers, sides, strict=True), key=lambda numbered: numbered[0]):
        together = [side for _, side in group]
        yield [chunk for chunk, old in together if old], [chunk for chunk, old in together if not old]


def _boundaries(before: Sequence[Chunk], after: Sequence[Chunk]) -> tuple[int, int, int]:
    ours, theirs = (
        {place for chunk in side for place in (chunk.char_start, chunk.char_end)} for side in (before, after)
    )
    return len(ours), len(theirs), len(ours & theirs)
