"""What the stages ask of segmenters and embedders."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
"""Shape ``(n,)``."""
Matrix = NDArray[np.float64]
"""Shape ``(n, d)``, a row for a text."""
KnownProbabilities = ArrayLike | Callable[[str], ArrayLike] | None
"""Probabilities that overrule a segmenter's where they are finite, one for a character, or what makes them."""


class SentenceSegmenter(Protocol):
    """Gives for each character the probability that a sentence ends after it."""

    def __call__(self, document: str, /) -> ArrayLike:
        """Shape ``(len(document),)``."""
        ...


@runtime_checkable
class BatchSentenceSegmenter(Protocol):
    """A segmenter that is faster with many documents at once."""

    def __call__(self, document: str, /) -> ArrayLike:
        """Shape ``(len(document),)``."""
        ...

    def predict_proba_batch(self, documents: list[str], /) -> list[Vector]:
        """One vector for a document, in their order."""
        ...

    def wants_batching(self) -> bool:
        """Whether a batch pays on the device in use."""
        ...


class ChunkletEmbedder(Protocol):
    """Embeds each text on its own."""

    async def embed_chunklets(self, chunklets: list[str], /) -> NDArray[Any]:
        """Shape ``(len(chunklets), d)``."""
        ...


class SegmentEmbedder(Protocol):
    """Embeds several texts in one forward pass, token by token."""

    @property
    def n_ctx(self) -> int:
        """Most tokens of one pass."""
        ...

    async def count_tokens(self, texts: list[str], /) -> list[int]:
        """Tokens of each text, special tokens left out."""
        ...

    async def embed_segment(self, texts: list[str], /) -> tuple[NDArray[Any], list[int]]:
        """A row for a token of the joined texts, with the rows of each text."""
        ...


class Embedder(ChunkletEmbedder, SegmentEmbedder, Protocol):
    """Does both."""
