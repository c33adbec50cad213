"""How strongly Markdown's structure asks for a cut before each sentence."""

import re
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
    offsets = accumulate(map(len, sentences), initial=0)
    firsts = np.fromiter(map(_first, sentences, offsets), dtype=np.intp, count=len(sentences))
    starts = line_starts(text)
    lines = np.searchsorted(starts, firsts, side="right") - 1
    kinds = np.frombuffer(blocks.kinds, dtype=np.uint8)
    opened = _STRENGTHS[kinds[lines]]
    asking = np.flatnonzero(opened)
    begins = _first_characters(text, starts[np.unique(lines[asking])].tolist())
    strengths = [0.0] * len(sentences)
    for index, line, first in zip(
        asking.tolist(), starts[lines[asking]].tolist(), firsts[asking].tolist(), strict=True
    ):
        if first <= begins[line]:
            strengths[index] = float(opened[index])
    return _suppressed(strengths)


def _first(sentence: str, start: int) -> int:
    """Where its first character stands that is no white space, or where it starts."""
    rest = sentence.lstrip()
    return start + len(sentence) - len(rest) if rest else start


def _first_characters(text: str, starts: list[int]) -> dict[int, int]:
    """Where the first character that is no white space stands from each of these places on."""
    found = ((start, _CHARACTER.search(text, start)) for start in starts)
    return {start: match.start() if match else len(text) for start, match in found}


_CHARACTER = re.compile(r"\S")


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
