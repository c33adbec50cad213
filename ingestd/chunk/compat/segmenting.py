"""Segmenters of ingestd in the shape that fancychunk 0.8.0 asks for."""

from itertools import accumulate
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ingestd.chunk.compat.structure_first.constants import PUNCTUATION_PROBABILITY
from ingestd.chunk.compat.structure_first.protocols import SentenceSegmenter, Vector
from ingestd.chunk.compat.structure_first.segmenters import punctuation_segmenter
from ingestd.ports.segmenter import Segmenter

_PUNCTUATION = "punctuation"
"""Name of the segmenter that the published package has too, with rules of its own."""


@runtime_checkable
class _Tells(Protocol):
    """A segmenter that tells the probability of a sentence's end after each character, as SaT does."""

    def __call__(self, document: str, /) -> ArrayLike:
        """Shape ``(len(document),)``."""
        ...


def probabilities(segmenter: Segmenter) -> SentenceSegmenter:
    """The segmenter as the stages of the published package call it.

    Parameters
    ----------
    segmenter
        ``punctuation`` stands for the package's own of that name. One that tells probabilities is asked for them; of
        any other a sentence's last character has the probability that the package gives a full stop.
    """
    if segmenter.name.partition("/")[0] == _PUNCTUATION:
        return punctuation_segmenter
    if isinstance(segmenter, _Tells):
        return segmenter

    def ends(document: str, /) -> Vector:
        found = np.zeros(len(document))
        last = np.fromiter(accumulate(map(len, segmenter.split(document))), dtype=np.intp) - 1
        found[last] = PUNCTUATION_PROBABILITY
        return found

    return ends
