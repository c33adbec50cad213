"""Segmenters: by punctuation, by given probabilities, by SaT models."""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ingestd.chunk.compat.structure_first.constants import PUNCTUATION_PROBABILITY
from ingestd.chunk.compat.structure_first.protocols import SentenceSegmenter, Vector
from ingestd.chunk.compat.structure_first.sat import SaTSegmenter, sat_3l, sat_9l, sat_12l, sat_default

__all__ = [
    "SaTSegmenter",
    "precomputed_segmenter",
    "punctuation",
    "punctuation_segmenter",
    "sat_3l",
    "sat_9l",
    "sat_12l",
    "sat_default",
]

_END = re.compile(r"[.!?](?=\s|\Z)")


def punctuation() -> Callable[[str], Vector]:
    """The segmenter that goes by full stops, exclamation marks and question marks."""
    return punctuation_segmenter


def punctuation_segmenter(document: str) -> Vector:
    """Give 0.9 at each ``.``, ``!`` and ``?`` before white space or at the end, and 0 elsewhere."""
    probabilities = np.zeros(len(document))
    ends = np.fromiter((match.start() for match in _END.finditer(document)), dtype=np.intp)
    probabilities[ends] = PUNCTUATION_PROBABILITY
    return probabilities


def precomputed_segmenter(probas: ArrayLike) -> SentenceSegmenter:
    """A segmenter that returns these probabilities for every document."""

    def segment(_document: str) -> ArrayLike:
        return probas

    return segment
