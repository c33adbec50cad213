"""Embedders and segmenters that draw from a text's checksum, in float64 and small integers."""

import hashlib
import random
import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


class DrawnEmbedder:
    """A row of small integers for each text or token, a token being some characters."""

    def __init__(self, *, spread: int = 5, n_ctx: int = 200, chars_per_token: int = 4, lost_rows: int = 0) -> None:
        self.n_ctx = n_ctx
        self.spread = spread
        self.chars_per_token = chars_per_token
        self.lost_rows = lost_rows
        self.asked: list[list[str]] = []

    async def embed_chunklets(self, chunklets: list[str], /) -> NDArray[np.float64]:
        self.asked.append(chunklets)
        return np.array([self._row(text) for text in chunklets])

    async def count_tokens(self, texts: list[str], /) -> list[int]:
        return [max(1, len(text) // self.chars_per_token) for text in texts]

    async def embed_segment(self, texts: list[str], /) -> tuple[NDArray[np.float64], list[int]]:
        self.asked.append(texts)
        counts = await self.count_tokens(texts)
        rows = [
            self._row(f"{index} {text}") for text, count in zip(texts, counts, strict=True) for index in range(count)
        ]
        return np.array(rows[: max(1, len(rows) - self.lost_rows)]), counts

    def _row(self, text: str) -> list[float]:
        drawn = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
        row = [float(byte % self.spread - self.spread // 2) for byte in drawn]
        return row if any(row) else [1.0] * 12


def drawn_segmenter(text: str) -> list[float]:
    """Mostly zero, else anything."""
    rng = random.Random(checksum(text))
    share = rng.choice([0.02, 0.1, 0.5])
    return [rng.random() if rng.random() < share else 0.0 for _ in text]


def stepped_segmenter(text: str) -> list[float]:
    """Few different probabilities, so that many cuts are worth the same."""
    return random.Random(checksum(text)).choices([0.0, 0.0, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0], k=len(text))


Segmenter = Callable[[str], object]
