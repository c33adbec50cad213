"""Batches of texts of similar length under a budget of padded tokens.

A batch costs the device its rows times its longest row, padding included. Taking the texts longest first keeps the
padding small and meets the largest shape first, where a lack of memory shows at once.
"""

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
        Positions; over all batches each position occurs exactly once.
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
    rows = min(max_rows, token_budget // max(lengths[start], 1))
    return min(start + max(rows, 1), len(lengths))
