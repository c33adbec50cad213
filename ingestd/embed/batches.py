"""Batches of texts of similar length under a budget of padded tokens.

A batch costs the device its rows times its longest row, padding included. Taking the texts longest first keeps the
padding small and meets the largest shape first, where a lack of memory shows at once. A row is never beside one more
than twice as long: it would cost more than by itself, and a quantised model scales its numbers over the whole batch, so
that a short row's vector moves the more the longer its neighbours are (cosine .988 instead of .991, measured 2026-11).
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

BATCH_TOKENS = 1024
"""Padded tokens of one batch on a CPU: larger ones leave its caches and are slower (measured 2026-11)."""
BATCH_ROWS = 64
"""Rows of one batch at most."""


def batches(
    counts: Sequence[int], *, token_budget: int = BATCH_TOKENS, max_rows: int = BATCH_ROWS
) -> Iterator[tuple[int, ...]]:
    """Batches of positions into ``counts``, longest texts first.

    Parameters
    ----------
    counts
        Tokens of each text.
    token_budget
        Most padded tokens of a batch: rows times the longest row. A text that is longer by itself gets a batch of
        its own.
    max_rows
        Most texts of a batch.

    Yields
    ------
    tuple
        Positions; over all batches each position occurs exactly once, and no row is below half of its batch's longest.
    """
    order = longest_first(counts)
    lengths = [counts[position] for position in order]
    start = 0
    while start < len(order):
        end = batch_end(lengths, start, token_budget=token_budget, max_rows=max_rows)
        yield order[start:end]
        start = end


def longest_first(counts: Sequence[int]) -> tuple[int, ...]:
    """Positions of the counts, the largest first; equal counts keep their order."""
    return tuple(sorted(range(len(counts)), key=lambda position: -counts[position]))


def batch_end(lengths: Sequence[int], start: int, *, token_budget: int, max_rows: int) -> int:
    """One past the last row of the batch that begins at ``start``, at least ``start + 1``; ``lengths`` never rise."""
    longest = lengths[start]
    rows = max(1, min(max_rows, token_budget // max(longest, 1)))
    last = min(start + rows, len(lengths))
    # Over negated lengths, which rise: the first that is below half of the longest.
    return bisect_right(lengths, -longest / 2, start, last, key=lambda length: -length)
