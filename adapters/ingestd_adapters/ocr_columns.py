"""Lines of a picture in reading order: straightened, parted into columns, joined into rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ingestd_adapters.ocr_engine import Line, Point

_LONG = 3.0
"""Lines so many times longer than high tell how far the page is askew."""
_MOST_SKEW = math.radians(15)
_LEAST_LINES = 3
"""On either side of a gutter."""
_CROSSING = 0.3
"""Largest share of lines that go over a gutter: titles, captions, what spans the columns."""
_FILLED = 0.5
"""Lines of a column of prose fill at least this share of its width; cells of a table do not."""
_FILLED_BESIDE = 0.28
"""The same for what lies beside it, which may be several columns."""
_LEAST_CHARACTERS = 12
_SAME_ROW = 0.5
"""Share of the lower one's height that two lines of one row have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A line where it would lie if the page were straight; pixels from the left and from the top."""

    line: Line
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """Of the line's box."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """From the top."""
        return (self.top + self.bottom) / 2


Row = list[Placed]
"""Lines beside each other, from left to right."""


def stretches(lines: Sequence[Line]) -> list[list[Row]]:
    """Stretches of rows in reading order, each of one column."""
    return [_rows(stretch) for stretch in _ordered(_straightened(lines))]


def is_standing(line: Line) -> bool:
    """Whether a line runs up or down the page, as stamps in the margin do."""
    width, height = line.sides
    return len(line.text) > 1 and height > 1.5 * width


def _straightened(lines: Sequence[Line]) -> list[Placed]:
    angle = _skew(lines)
    cosine, sine = math.cos(-angle), math.sin(-angle)
    placed: list[Placed] = []
    for line in lines:
        x = sum(corner[0] for corner in line.corners) / 4
        y = sum(corner[1] for corner in line.corners) / 4
        x, y = x * cosine - y * sine, x * sine + y * cosine
        width, height = line.sides
        placed.append(
            Placed(line=line, left=x - width / 2, top=y - height / 2, right=x + width / 2, bottom=y + height / 2)
        )
    return placed


def _skew(lines: Sequence[Line]) -> float:
    """Radians by which the text is turned clockwise; 0 where it cannot be told."""
    angles = [
        _angle(line.corners[0], line.corners[1]) for line in lines if line.sides[0] >= _LONG * max(line.sides[1], 1.0)
    ]
    found = median(angles) if angles else 0.0
    return found if abs(found) <= _MOST_SKEW else 0.0


def _angle(start: Point, end: Point) -> float:
    return math.atan2(end[1] - start[1], end[0] - start[0])


def _ordered(region: list[Placed]) -> list[list[Placed]]:
    """Stretches of one column each: what spans the columns parts them into bands, each read column by column."""
    gutter = _gutter(region)
    if gutter is None:
        return [region] if region else []
    spanning = sorted((one for one in region if one.left < gutter < one.right), key=lambda one: one.middle)
    rest = [one for one in region if not one.left < gutter < one.right]
    found: list[list[Placed]] = []
    held: list[Placed] = []
    above = -math.inf
    for limit, between in [*((one.middle, one) for one in spanning), (math.inf, None)]:
        band = [one for one in rest if above <= one.middle < limit]
        if band:
            found += [held] if held else []
            held = []
            found += _ordered([one for one in band if one.right <= gutter])
            found += _ordered([one for one in band if one.left >= gutter])
        held += [between] if between is not None else []
        above = limit
    return [*found, held] if held else found


def _gutter(region: Sequence[Placed]) -> float | None:
    """Where a region of columns parts in two, in pixels from the left; ``None`` where it is one column, or a table."""
    if len(region) < 2 * _LEAST_LINES:
        return None
    left = np.array([one.left for one in region])
    right = np.array([one.right for one in region])
    lengths = np.array([len(one.line.text) for one in region])
    best: tuple[int, float] | None = None
    gutter: float | None = None
    for edge in sorted({float(value) for value in right}):
        before, after = right <= edge, left >= edge
        crossing = int(len(region) - before.sum() - after.sum())
        if min(before.sum(), after.sum()) < _LEAST_LINES or crossing > _CROSSING * len(region):
            continue
        gap = float(left[after].min()) - edge
        filled = sorted(_filled(left[side], right[side], lengths[side]) for side in (before, after))
        prose = filled[0] >= _FILLED_BESIDE and filled[1] >= _FILLED
        if prose and (best is None or (crossing, -gap) < best):
            best, gutter = (crossing, -gap), edge + max(gap, 0.0) / 2
    return gutter


def _filled(left: NDArray[np.float64], right: NDArray[np.float64], lengths: NDArray[np.int64]) -> float:
    """Share of the width that the lines of one side fill; 0 where they are too short for prose."""
    if float(np.median(lengths)) < _LEAST_CHARACTERS:
        return 0.0
    return float(np.median(right - left)) / max(1.0, float(right.max() - left.min()))


def _rows(stretch: Sequence[Placed]) -> list[Row]:
    rows: list[Row] = []
    for one in sorted(stretch, key=lambda one: one.middle):
        common = min(one.bottom, rows[-1][0].bottom) - max(one.top, rows[-1][0].top) if rows else 0.0
        if rows and common > _SAME_ROW * min(one.height, rows[-1][0].height):
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row, key=lambda one: one.left) for row in rows]
