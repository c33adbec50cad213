"""The cheapest way to cut a sequence into pieces of a bounded length."""

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.compat.structure_first.protocols import Matrix, Vector

Costs = Callable[[NDArray[np.intp], NDArray[np.intp]], Matrix]
"""Cost of each piece, for starts of shape ``(rows, width)`` and ends of shape ``(rows, 1)``."""

_CELLS = 1 << 16
"""Costs worked out in one go, to save memory."""


def cheapest_pieces(lengths: NDArray[np.intp], most: int, costs: Costs, cut_costs: Vector | None = None) -> list[int]:
    """Ends of the pieces; of equal partitions the one whose pieces, from the last to the first, begin earliest.

    Parameters
    ----------
    lengths
        Of the items, shape ``(n,)``, none over ``most``.
    most
        Length of a piece.
    costs
        Of pieces; also asked for starts below 0, whose costs are not heard.
    cut_costs
        What a cut before each item costs, shape ``(n,)``, added to the best cost up to there.
    """
    count = len(lengths)
    places = np.concatenate(([0], np.cumsum(lengths)))
    ends = np.arange(1, count + 1)
    lows = np.searchsorted(places, places[1:] - most)
    widths = ends - lows
    widest = int(widths.max())
    totals = np.full(widest + count + 1, np.inf)
    """Best cost up to each place, the cut there included, behind as many places that cannot be reached."""
    totals[widest] = 0.0
    sources = array("q", bytes(8 * (count + 1)))
    row = 0
    while row < count:
        stop = _rows(widths, row)
        width = int(widths[row:stop].max())
        block = ends[row:stop, None]
        starts = block + np.arange(-width, 0)
        table = costs(starts, block)
        table[starts < lows[row:stop, None]] = np.inf
        for end, line in enumerate(table, start=row + 1):
            candidates = totals[widest + end - width : widest + end] + line
            best = int(candidates.argmin())
            total = candidates[best]
            totals[widest + end] = total if cut_costs is None or end == count else total + cut_costs[end]
            sources[end] = end - width + best
        row = stop
    return traced(sources)


def _rows(widths: NDArray[np.intp], row: int) -> int:
    """Where to stop, so that the rows from this one on, all as wide as the widest, hold few cells."""
    ahead = np.maximum.accumulate(widths[row : row + _CELLS // 8]) * np.arange(
        1, min(_CELLS // 8, len(widths) - row) + 1
    )
    return row + max(1, int(np.searchsorted(ahead, _CELLS, side="right")))


def traced(sources: Sequence[int]) -> list[int]:
    """Ends of the pieces that lead to the last place, given for each place where its piece begins."""
    ends: list[int] = []
    place = len(sources) - 1
    while place:
        ends.append(place)
        place = sources[place]
    return ends[::-1]
