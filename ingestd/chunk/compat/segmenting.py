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


def as_segmenter(given: Segmenter | SentenceSegmenter | None) -> Segmenter | None:
    """What was given, with probabilities in the shape of a segmenter that no other profile can use."""
    if given is None or hasattr(given, "split"):
        return given  # type: ignore[return-value]  # told apart by its method
    return _Telling(given)  # pyright: ignore[reportArgumentType]  # told apart by its method


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


class _Telling:
    """Probabilities of sentences' ends, where a segmenter is expected."""

    name = "probabilities"

    def __init__(self, tell: SentenceSegmenter) -> None:
        self._tell = tell

    def __call__(self, document: str, /) -> ArrayLike:
        return self._tell(document)

    def split(self, text: str) -> list[str]:
        """Refuses.

        Raises
        ------
        ValueError
            Always: only the profile ``compat`` reads probabilities.
        """
        raise ValueError(
            f"segmenter gives probabilities, and {len(text)} characters are to be split: pass one with split(), or "
            'choose the profile "compat", which reads probabilities'
        )
