"""How strongly Markdown's structure asks for a cut before each sentence."""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.compat.structure_first.blocks import Blocks, Kind, line_starts
from ingestd.chunk.compat.structure_first.constants import (
    BOUNDARY_STRENGTH_BLOCKQUOTE,
    BOUNDARY_STRENGTH_HEADING,
    BOUNDARY_STRENGTH_LIST,
    BOUNDARY_STRENGTH_PARAGRAPH,
)
from ingestd.chunk.compat.structure_first.protocols import Vector


def boundary_strengths(sentences: list[str], text: str, blocks: Blocks) -> Vector:
    """Strength of the boundary before each sentence, 0 to 1; of neighbours the first strongest alone counts.

    Parameters
    ----------
    sentences
        Their concatenation is ``text``.
    text, blocks
        The text with its block structure.
    """
    firsts = np.array(
        [
            start + (len(sentence) - len(rest) if (rest := sentence.lstrip()) else 0)
            for sentence, start in zip(sentences, accumulate(map(len, sentences), initial=0), strict=False)
        ],
        dtype=np.intp,
    )
    starts = line_starts(text)
    lines = np.searchsorted(starts, firsts, side="right") - 1
    kinds = np.frombuffer(blocks.kinds, dtype=np.uint8)
    opened = _STRENGTHS[kinds[lines]]
    return _suppressed(
        [
            strength if strength and _at_line_start(text, start, first) else 0.0
            for strength, start, first in zip(opened.tolist(), starts[lines].tolist(), firsts.tolist(), strict=True)
        ]
    )


def _at_line_start(text: str, start: int, first: int) -> bool:
    return start == first or text[start:first].isspace()


def _strength(kinds: int) -> float:
    if kinds & Kind.HEADING:
        return BOUNDARY_STRENGTH_HEADING
    if kinds & Kind.BLOCKQUOTE:
        return BOUNDARY_STRENGTH_BLOCKQUOTE
    if kinds & Kind.LIST:
        return BOUNDARY_STRENGTH_LIST
    return BOUNDARY_STRENGTH_PARAGRAPH if kinds & Kind.PARAGRAPH else 0.0


_STRENGTHS: NDArray[np.float64] = np.array([_strength(kinds) for kinds in range(16)])


def _suppressed(strengths: list[float]) -> Vector:
    """Of each run of boundaries without a gap keep the first strongest."""
    kept = np.zeros(len(strengths))
    best = -1
    for index, strength in enumerate([*strengths, 0.0]):
        if strength:
            if best < 0 or strength > strengths[best]:
                best = index
        elif best >= 0:
            kept[best] = strengths[best]
            best = -1
    return kept
