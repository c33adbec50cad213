"""The vectors of the ``hash`` embedder, for peers that cannot import ingestd; the same numbers, and counted."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384


class HashVectors:
    """Vectors drawn from a text's hash."""

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of norm 1, shape ``(len(texts), DIMENSION)``."""
        self.embedded += len(texts)
        drawn = b"".join(hashlib.shake_128(text.encode()).digest(2 * DIMENSION) for text in texts)
        rows = np.frombuffer(drawn, dtype="<u2").reshape(len(texts), DIMENSION).astype(np.float32)
        rows -= np.float32(32767.5)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows
