"""Which characters of a text are white space."""

import sys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


def code_points(text: str) -> NDArray[np.uint32]:
    """Code point of each character, shape ``(len(text),)``; lone surrogates are their own."""
    encoding = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    return np.frombuffer(text.encode(encoding, "surrogatepass"), dtype=np.uint32)


def space_mask(text: str) -> NDArray[np.bool_]:
    """Whether ``str.isspace`` holds, for each character, shape ``(len(text),)``."""
    table = _spaces()
    mask: NDArray[np.bool_] = table[np.minimum(code_points(text), len(table) - 1)]
    return mask


def runs_of(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Starts and ends of the longest ranges in which the mask holds."""
    edges: NDArray[Any] = np.flatnonzero(mask[1:] != mask[:-1]) + 1
    if mask[0]:
        edges = np.concatenate(([0], edges))
    if len(edges) % 2:
        edges = np.concatenate((edges, [len(mask)]))
    return edges[0::2], edges[1::2]


@lru_cache(maxsize=1)
def _spaces() -> NDArray[np.bool_]:
    """For each code point up to the last white space, and one beyond."""
    last = 0x3000
    return np.array([chr(code).isspace() for code in range(last + 2)], dtype=np.bool_)
