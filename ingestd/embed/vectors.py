"""The check that rows are vectors fit to be stored."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_NORM_TOLERANCE = 1e-3


def bad_rows(matrix: NDArray[Any], *, rows: int, dimension: int) -> tuple[int, ...]:
    """Indices of the rows that are not finite or not of norm 1.

    Parameters
    ----------
    matrix
        What an embedder returned for ``rows`` texts: shape ``(rows, dimension)``, float32.
    rows, dimension
        The shape that it must have; with another shape or type every row is bad.
    """
    if matrix.shape != (rows, dimension) or matrix.dtype != np.float32:
        return tuple(range(rows))
    # In float64: the squares of huge finite values would overflow, with a warning.
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    return tuple(np.flatnonzero(~(np.abs(norms - 1) <= _NORM_TOLERANCE)).tolist())


def what_is_wrong(matrix: NDArray[Any], *, dimension: int) -> str:
    """Sentence on a lone text's vector that :func:`bad_rows` refused, for people."""
    if matrix.shape != (1, dimension):
        return f"it has shape {matrix.shape}, not (1, {dimension})"
    if matrix.dtype != np.float32:
        return f"it is {matrix.dtype}, not float32"
    if not np.isfinite(matrix).all():
        return f"{int((~np.isfinite(matrix)).sum())} of its {dimension} numbers are not finite"
    return f"its norm is {float(np.linalg.norm(matrix.astype(np.float64))):.4g}, not 1"
