"""How a picture of text has to be turned to stand upright."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Quad = NDArray[np.float32]
"""Corners of a line, shape ``(4, 2)``, in pixels."""
TURNS = (0, 90, 180, 270)
_SAMPLE = 5
_LONG = 1.5
"""Of a line of text that is so many times longer than high, the direction is known."""
_SURE = 0.9
"""Upside down, lines were read with a mean confidence of at most 0.75 (2026-12)."""


def upright(quads: Sequence[Quad], confidence: Callable[[Quad, int], float]) -> int:
    """Degrees by which the picture is to be turned clockwise: 0, 90, 180 or 270.

    The shape of the lines tells which side they lie on; a few of them, read both ways, tell up from down. A picture
    without long lines stays as it is.

    Parameters
    ----------
    quads
        Corners of the lines that were found, clockwise from the top left of the picture as it is.
    confidence
        Of a line as it is cut from the picture, turned by so many degrees clockwise: one that is higher than wide was
        stood on its left side by the cut, so that its text runs as if the picture had been turned by 270 degrees.
    """
    flat = [quad for quad in quads if _width(quad) >= _LONG * _height(quad)]
    tall = [quad for quad in quads if is_tall(quad)]
    sideways = sum(map(_height, tall)) > sum(map(_width, flat))
    sample = sorted(tall if sideways else flat, key=_extent, reverse=True)[:_SAMPLE]
    if not sample:
        return 0
    as_cut, other = (270, 90) if sideways else (0, 180)
    first = _mean([confidence(quad, 0) for quad in sample])
    if first >= _SURE:
        return as_cut
    return other if _mean([confidence(quad, 180) for quad in sample]) > first else as_cut


def is_tall(quad: Quad) -> bool:
    """Whether a line runs up or down the picture."""
    return _height(quad) >= _LONG * _width(quad)


def _extent(quad: Quad) -> float:
    """Length of a line; the longest cost the most and say no more, so that three words are enough."""
    long, short = max(_width(quad), _height(quad)), min(_width(quad), _height(quad))
    return min(long, 12 * short)


def _width(quad: Quad) -> float:
    return float(max(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[2] - quad[3])))


def _height(quad: Quad) -> float:
    return float(max(np.linalg.norm(quad[0] - quad[3]), np.linalg.norm(quad[1] - quad[2])))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
