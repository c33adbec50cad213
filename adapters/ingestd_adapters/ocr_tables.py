"""Tables among the rows of a column, told by cells that lie below each other."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ingestd_adapters.ocr_columns import Row

Cells = tuple[tuple[str, ...], ...]
"""Rows of equally many cells; cells without text are empty."""
_LEAST_ROWS = 3
_MOST_COLUMNS = 30
_TOUCHING = 0.5
"""Heights by which the boxes of neighbouring cells may overlap."""


def parted(stretch: Sequence[Row]) -> Iterator[tuple[Sequence[Row], Cells]]:
    """The stretch in parts, top to bottom: rows of text without cells, and tables with theirs."""
    start = 0
    at = 0
    while at < len(stretch):
        end = at
        while end < len(stretch) and len(stretch[end]) > 1:
            end += 1
        cells = _cells(stretch[at:end]) if end - at >= _LEAST_ROWS else ()
        if cells:
            if at > start:
                yield stretch[start:at], ()
            yield stretch[at:end], cells
            start = end
        at = max(end, at + 1)
    if start < len(stretch):
        yield stretch[start:], ()


def _cells(rows: Sequence[Row]) -> Cells:
    """Cells of a table; none where the pieces of the rows do not lie below each other, as those of prose do not."""
    columns = _columns(rows)
    if not 1 < len(columns) <= _MOST_COLUMNS:
        return ()
    return tuple(tuple(_row(row, [left for left, _ in columns])) for row in rows)


def _row(row: Row, lefts: Sequence[float]) -> list[str]:
    cells = [""] * len(lefts)
    for one in row:
        column = bisect_right(lefts, one.left) - 1
        cells[column] = f"{cells[column]} {one.line.text}".strip()
    return cells


def _columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Left and right of each column: what the pieces of all rows cover, from gap to gap."""
    columns: list[tuple[float, float]] = []
    for one in sorted((one for row in rows for one in row), key=lambda one: one.left):
        # Engines draw their boxes wider than the letters: two cells may touch.
        if columns and one.left < columns[-1][1] - _TOUCHING * one.height:
            columns[-1] = columns[-1][0], max(columns[-1][1], one.right)
        else:
            columns.append((one.left, one.right))
    return columns
