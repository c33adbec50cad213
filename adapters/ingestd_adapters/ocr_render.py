"""Pictures of the pages of a PDF, of a bounded number of pixels."""

import importlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ingestd.errors import CorruptFile
from ingestd_adapters.ocr_engine import Picture, Point

DPI = 200
"""Of a page up to :data:`MEGAPIXELS`. Recognition scales lines to 48 pixels: at 150 dpi the text of 10 points is read
as well, that of 7 points worse (2026-12)."""
MEGAPIXELS = 8
"""An A3 page at 200 dpi has 7.7; larger pages get fewer dots an inch."""
_LONGEST = 16_000
"""Pixels of a side: a page of 14,400 by 1 points is as hostile as a large one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFrame:
    """Sizes of a page as it is shown, ``/Rotate`` included, and of its picture."""

    index: int
    """0-based."""
    width: float
    """Points."""
    height: float
    columns: int
    """Pixels."""
    rows: int

    @property
    def scale(self) -> float:
        """Pixels a point."""
        return self.columns / self.width

    def on_page(self, point: Point, turned: int) -> Point:
        """Place on the page, in points from its top left, of a pixel of the picture turned clockwise by so much."""
        rows, columns = self.rows, self.columns
        x, y = point
        match turned:
            case 90:
                x, y = y, rows - x
            case 180:
                x, y = columns - x, rows - y
            case 270:
                x, y = columns - y, x
            case _:
                pass
        return x / columns * self.width, y / rows * self.height


def scale_of(width: float, height: float) -> float:
    """Pixels a point for a page of this size, in points: bounded in pixels whatever the size."""
    most = min(DPI / 72, math.sqrt(MEGAPIXELS * 1e6 / (width * height)), _LONGEST / max(width, height))
    # Sides are rounded up to whole pixels.
    return most * 0.999


def page_pictures(path: Path, name: str, indexes: Iterable[int]) -> Iterator[tuple[PageFrame, Picture]]:
    """Pictures of these pages, one in memory at a time.

    Raises
    ------
    CorruptFile
        When a page cannot be drawn.
    """
    engine: Any = importlib.import_module("pypdfium2")
    document = engine.PdfDocument(path)
    try:
        for index in indexes:
            try:
                yield _picture(document, index)
            except engine.PdfiumError as error:
                raise CorruptFile(f"{name}: page {index + 1} cannot be drawn ({error}): it is damaged") from error
    finally:
        document.close()


def _picture(document: Any, index: int) -> tuple[PageFrame, Picture]:
    page = document[index]
    try:
        width, height = (max(1.0, side) for side in page.get_size())
        bitmap = page.render(scale=scale_of(width, height), may_draw_forms=False)
        try:
            # A copy: the pixels are the bitmap's own, which is closed here.
            drawn = np.array(bitmap.to_numpy(), dtype=np.uint8, copy=True)
        finally:
            bitmap.close()
    finally:
        page.close()
    colours = np.repeat(drawn[:, :, None], 3, axis=2) if drawn.ndim == 2 else drawn[:, :, :3]
    frame = PageFrame(index=index, width=width, height=height, columns=drawn.shape[1], rows=drawn.shape[0])
    return frame, np.ascontiguousarray(colours)
