"""The embedder without a model: every vector is the same."""

import numpy as np

from ingestd.chunk.compat.structure_first.protocols import Matrix

_CHARS_PER_TOKEN = 4


class NoopSegmentEmbedder:
    """Gives constant unit vectors, so that structure and sizes alone decide.

    Parameters
    ----------
    embedding_dim
        Length of a vector.
    n_ctx
        Tokens that it claims to read.
    """

    def __init__(self, embedding_dim: int = 1024, n_ctx: int = 4096) -> None:
        self.embedding_dim = embedding_dim
        self.n_ctx = n_ctx

    async def count_tokens(self, texts: list[str], /) -> list[int]:
        """A quarter of the characters, at least one."""
        return [max(1, len(text) // _CHARS_PER_TOKEN) for text in texts]

    async def embed_segment(self, texts: list[str], /) -> tuple[Matrix, list[int]]:
        """A constant row for each token."""
        counts = await self.count_tokens(texts)
        return self._rows(sum(counts)), counts

    async def embed_chunklets(self, chunklets: list[str], /) -> Matrix:
        """A constant row for each text."""
        return self._rows(len(chunklets))

    def _rows(self, count: int) -> Matrix:
        return np.full((count, self.embedding_dim), 1.0 / np.sqrt(self.embedding_dim))


def noop(embedding_dim: int = 1024) -> NoopSegmentEmbedder:
    """An embedder that needs no model."""
    return NoopSegmentEmbedder(embedding_dim)
