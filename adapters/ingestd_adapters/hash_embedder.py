"""Embedder of vectors drawn from a text's hash: no meaning, hardly any cost, for benchmarks."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ingestd.errors import ConfigurationError
from ingestd.model.recipe import Stage
from ingestd.model.vectors import Matrix
from ingestd.ports.embedder import Embedder
from ingestd_adapters.embedder_options import known_only, positive

_NAME = "hash"
_VERSION = 1
_CHARACTERS_A_TOKEN = 4


def hash_embedder(options: Mapping[str, object]) -> Embedder:
    """Embedder of hashes.

    Parameters
    ----------
    options
        ``dimension`` (default 384) and ``max_tokens`` (default 512), both positive integers.

    Raises
    ------
    ConfigurationError
        On any other option or value.
    """
    known_only(_NAME, options, ("dimension", "max_tokens"))
    return _HashEmbedder(
        dimension=positive(_NAME, options, "dimension", 384), max_tokens=positive(_NAME, options, "max_tokens", 512)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _HashEmbedder:
    dimension: int
    max_tokens: int
    tolerance: float = 1e-6
    device: str = "cpu"

    @property
    def stage(self) -> Stage:
        identity = {"dimension": self.dimension, "max_tokens": self.max_tokens}
        return Stage(name=_NAME, version=_VERSION, options=MappingProxyType(identity))

    def load(self) -> None:
        """Nothing to load."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Two for the text, one for each four characters begun: about what English takes."""
        return [2 + -(-len(text) // _CHARACTERS_A_TOKEN) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Rows that depend on nothing but their text."""
        for text, count in zip(texts, self.count_tokens(texts), strict=True):
            if count > self.max_tokens:
                raise ValueError(f"a text of {count} tokens ({text[:40]!r}…) is over the limit of {self.max_tokens}")
        drawn = b"".join(_drawn(text, 2 * self.dimension) for text in texts)
        rows = np.frombuffer(drawn, dtype="<u2").reshape(len(texts), self.dimension).astype(np.float32)
        # Between two 16-bit integers: no component is zero, so no row is without length.
        rows -= np.float32(32767.5)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def embed_query(self, text: str) -> Matrix:
        """The document's vector of the same text: a search for a chunk's own text finds it."""
        (count,) = self.count_tokens([text])
        if count > self.max_tokens:
            raise ConfigurationError(
                f"the query has {count} tokens, at most {self.max_tokens} are possible: shorten it"
            )
        return self.embed_documents([text])


def _drawn(text: str, size: int) -> bytes:
    return hashlib.shake_128(text.encode("utf-8", "surrogatepass")).digest(size)
