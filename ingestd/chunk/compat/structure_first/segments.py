"""Which chunks are embedded together, and what of their surroundings with them."""

from dataclasses import dataclass
from math import floor

from ingestd.chunk.compat.structure_first.errors import ChunkExceedsContextError


@dataclass(frozen=True, slots=True)
class Segment:
    """Chunks of one forward pass, as indices.

    Parameters
    ----------
    start
        First chunk sent, for context alone where it is before ``first``.
    first, end
        Chunks whose vectors are taken, half open.
    """

    start: int
    first: int
    end: int


def plan_segments(
    counts: list[int], heading_counts: list[int], budget: int, preamble_budget: int, n_ctx: int
) -> list[Segment]:
    """Segments that hold each chunk once, filled one after the other.

    Parameters
    ----------
    counts
        Tokens of each chunk.
    heading_counts
        Tokens of the heading path of each chunk; only that of a segment's first chunk is sent.
    budget
        Tokens of a segment.
    preamble_budget
        Tokens of it that may go to headings and to the chunks before.
    n_ctx
        Tokens that the embedder reads, for a chunk that does not fit the budget.

    Raises
    ------
    ChunkExceedsContextError
        When a chunk does not even fit alone.
    """
    segments: list[Segment] = []
    first = 0
    while first < len(counts):
        segment = _segment(counts, heading_counts[first], first, (budget, preamble_budget, n_ctx))
        segments.append(segment)
        first = segment.end
    return segments


def preamble_tokens(budget: int, fraction: float) -> int:
    """Tokens of a budget that may go before the chunks."""
    return floor(fraction * budget)


def _segment(counts: list[int], heading: int, first: int, limits: tuple[int, int, int]) -> Segment:
    budget, preamble_budget, n_ctx = limits
    room = max(0, preamble_budget - heading)
    start, before = first, 0
    while start and before + counts[start - 1] <= room:
        start -= 1
        before += counts[start]
    left = (budget - preamble_budget) + (preamble_budget - heading - before)
    end = first
    while end < len(counts) and counts[end] <= left:
        left -= counts[end]
        end += 1
    if end > first:
        return Segment(start, first, end)
    while start < first and heading + before + counts[first] > n_ctx:
        before -= counts[start]
        start += 1
    if counts[first] > n_ctx:
        raise ChunkExceedsContextError(_too_long(first, counts[first], n_ctx))
    return Segment(start, first, first + 1)


def check_counts(counts: list[int], n_ctx: int) -> None:
    """Refuse chunks that the embedder cannot read whole."""
    for index, count in enumerate(counts):
        if count > n_ctx:
            raise ChunkExceedsContextError(_too_long(index, count, n_ctx))


def _too_long(index: int, count: int, n_ctx: int) -> str:
    return f"chunk {index} has {count} tokens, the embedder reads {n_ctx} (n_ctx): lower max_size"
