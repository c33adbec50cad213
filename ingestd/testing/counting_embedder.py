"""An embedder that remembers what it was asked, for tests of what stands in front of one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ingestd.errors import ConfigurationError
from ingestd.model.identity import text_hash
from ingestd.model.recipe import Stage
from ingestd.model.vectors import Matrix

QUERY_PREFIX = "query: "


@dataclass(slots=True, kw_only=True)
class CountingEmbedder:
    """Deterministic unit vectors; a token is a word, and two more for the text."""

    dimension: int = 8
    max_tokens: int = 512
    tolerance: float = 1e-6
    device: str = "cpu"
    version: int = 1
    unusable: frozenset[str] = frozenset()
    """Texts that get a row of NaN."""
    unusable_in_batches: frozenset[str] = frozenset()
    """Texts that get a row of NaN unless they are alone."""
    memory_tokens: int | None = None
    """A batch of more padded tokens raises ``MemoryError``."""
    loads: int = 0
    batches: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """Every batch that it was asked for, those that failed included."""

    @property
    def stage(self) -> Stage:
        """Identity."""
        options = {"dimension": self.dimension, "max_tokens": self.max_tokens, "query_prefix": QUERY_PREFIX}
        return Stage(name="counting", version=self.version, options=MappingProxyType(options))

    @property
    def embedded(self) -> Counter[str]:
        """How often each text was in a batch."""
        return Counter(text for batch in self.batches for text in batch)

    def load(self) -> None:
        """Count the call."""
        self.loads += 1

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and two."""
        return [len(text.split()) + 2 for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Rows drawn from the texts' hashes."""
        counts = self.count_tokens(texts)
        if max(counts, default=0) > self.max_tokens:
            raise ValueError(f"a text of {max(counts)} tokens is over the limit of {self.max_tokens}")
        self.batches.append(tuple(texts))
        if self.memory_tokens is not None and max(counts, default=0) * len(texts) > self.memory_tokens:
            raise MemoryError(f"{len(texts)} texts of up to {max(counts)} tokens")
        return np.stack([self._row(text, len(texts)) for text in texts]) if texts else self._nothing()

    def embed_query(self, text: str) -> Matrix:
        """Row drawn from the prefixed query's hash."""
        (count,) = self.count_tokens([QUERY_PREFIX + text])
        if count > self.max_tokens:
            raise ConfigurationError(
                f"the query has {count} tokens, at most {self.max_tokens} are possible: shorten it"
            )
        return self._row(QUERY_PREFIX + text, 1)[None]

    def _row(self, text: str, rows: int) -> Matrix:
        if text in self.unusable or (rows > 1 and text in self.unusable_in_batches):
            return np.full(self.dimension, np.nan, np.float32)
        row = np.random.default_rng(int(text_hash(text), 16)).normal(size=self.dimension)
        return (row / np.linalg.norm(row)).astype(np.float32)

    def _nothing(self) -> Matrix:
        return np.empty((0, self.dimension), np.float32)
