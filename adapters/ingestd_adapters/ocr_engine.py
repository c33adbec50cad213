"""The port of the engines that read pictures of pages."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
"""Shape ``(height, width, 3)``, blue, green, red."""
Point = tuple[float, float]
"""Pixels from the left and from the top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text on a picture."""

    text: str
    """Empty where the engine sees a line and knows none of its letters."""
    confidence: float
    """The engine's own, from 0 to 1."""
    corners: tuple[Point, Point, Point, Point]
    """Clockwise, from the text's top left."""

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height of its box, in pixels."""
        first, second, third, fourth = self.corners
        width = max(math.dist(first, second), math.dist(fourth, third))
        return width, max(math.dist(first, fourth), math.dist(second, third))

    @property
    def length(self) -> float:
        """The longer side in the shorter ones."""
        return max(self.sides) / max(1.0, min(self.sides))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What stands on a picture."""

    lines: tuple[Line, ...]
    """In no order that means anything."""
    turned: int
    """Degrees (0, 90, 180 or 270) by which the picture was turned clockwise, so that it stands upright; the lines'
    corners are those of the turned picture."""


class OcrEngine(Protocol):
    """An engine that finds lines of text on a picture."""

    @property
    def name(self) -> str:
        """How settings and provenance call it."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """All of it that can change what is read, as JSON values: part of the stage's digest."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Names and versions of the packages behind it, for provenance."""
        ...

    def load(self) -> None:
        """Make ready, once; a later call does nothing.

        Raises
        ------
        AdapterUnavailable
            When its weights are missing or are not those that are pinned.
        """
        ...

    def is_loaded(self) -> bool:
        """Whether this process holds its weights."""
        ...

    def read(self, picture: Picture) -> Reading:
        """Lines of a picture that may lie on a side or upside down."""
        ...
