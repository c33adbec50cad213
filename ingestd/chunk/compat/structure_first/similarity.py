"""How much neighbouring chunklets belong together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.compat.structure_first.constants import (
    HEADING_SPLIT_AFTER_FORBID,
    HEADING_SPLIT_BEFORE_DIVISOR,
    MID_PARAGRAPH_PENALTY,
    TYPICAL_CHUNKLET_LOWER_QUANTILE,
    TYPICAL_CHUNKLET_UPPER_QUANTILE,
)
from ingestd.chunk.compat.structure_first.errors import ValidationError, ZeroNormEmbeddingError
from ingestd.chunk.compat.structure_first.openings import heading_flags
from ingestd.chunk.compat.structure_first.protocols import Vector

Embeddings = NDArray[np.floating[Any]]


def cut_costs(chunklets: list[str], embeddings: object) -> Vector:
    """Cost of a cut after each chunklet but the last, shape ``(n - 1,)``, 0.25 more within a paragraph.

    Parameters
    ----------
    chunklets
        Neighbours, in order.
    embeddings
        A row for each chunklet.

    Raises
    ------
    ZeroNormEmbeddingError
        When a row is zero.
    ValidationError
        When the shape is wrong, or a row is not finite.
    """
    units = _units(embeddings, len(chunklets))
    lengths = np.fromiter(map(len, chunklets), dtype=np.intp, count=len(chunklets))
    topical = _without_theme(units, lengths)
    floor = float(np.sqrt(np.finfo(topical.dtype).eps))
    similarities = np.einsum("ij,ij->i", topical[:-1], topical[1:])
    costs: Vector = np.maximum((similarities + 1) / 2, floor).astype(np.float64)
    _heed_headings(costs, chunklets, floor)
    _heed_paragraphs(costs, chunklets)
    return costs


def _units(embeddings: object, count: int) -> Embeddings:
    rows: Embeddings = np.asarray(embeddings)
    if rows.ndim != 2 or rows.shape[0] != count:
        raise ValidationError(
            f"embedder.embed_chunklets returned shape {rows.shape}; expected ({count}, d), a row for each text"
        )
    if not np.issubdtype(rows.dtype, np.floating):
        rows = rows.astype(np.float64)
    norms: Embeddings = np.linalg.norm(rows, axis=1)
    if not np.isfinite(norms).all():
        index = int(np.argmin(np.isfinite(norms)))
        raise ValidationError(f"embedder.embed_chunklets returned a row {index} that is not finite; look at that text")
    if (norms == 0).any():
        index = int(np.argmax(norms == 0))
        raise ZeroNormEmbeddingError(f"embedder.embed_chunklets returned a zero row {index}; it has no direction")
    return rows / norms[:, None]


def _without_theme(units: Embeddings, lengths: NDArray[np.intp]) -> Embeddings:
    """Take the common direction of all chunklets of usual length out of every one."""
    bounds = [100 * TYPICAL_CHUNKLET_LOWER_QUANTILE, 100 * TYPICAL_CHUNKLET_UPPER_QUANTILE]
    low, high = np.percentile(lengths, bounds)
    typical = (lengths >= low) & (lengths <= high)
    if typical.sum() < 2:
        return units
    mean: Embeddings = units[typical].mean(axis=0)
    size = np.linalg.norm(mean)
    if size == 0:
        return units
    theme = mean / size
    rest = units - np.outer(units @ theme, theme)
    norms: Embeddings = np.linalg.norm(rest, axis=1)
    if (norms < np.finfo(units.dtype).eps).any():
        return units
    return rest / norms[:, None]


def _heed_headings(costs: Vector, chunklets: list[str], floor: float) -> None:
    """Cut rather before a heading, unless one comes before it, and hardly after one that stands alone."""
    before = True
    for index, chunklet in enumerate(chunklets):
        starts, alone = heading_flags(chunklet)
        if starts and not before:
            costs[index - 1] = max(costs[index - 1] / HEADING_SPLIT_BEFORE_DIVISOR, floor)
        if alone and index < len(costs):
            costs[index] = HEADING_SPLIT_AFTER_FORBID
        before = starts


def _heed_paragraphs(costs: Vector, chunklets: list[str]) -> None:
    for index, chunklet in enumerate(chunklets[:-1]):
        if chunklet.count("\n", len(chunklet.rstrip())) < 2:
            costs[index] += MID_PARAGRAPH_PENALTY
