"""Embedding of texts that no cache knows, batch by batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.embed.batches import BATCH_ROWS, batch_end, longest_first
from ingestd.embed.cache import VectorCache
from ingestd.embed.owner import DeviceOwner
from ingestd.embed.pace import BATCH_SECONDS, Pace, after_batch, after_shortage
from ingestd.embed.vectors import bad_rows, what_is_wrong
from ingestd.errors import EmbedderUnavailable
from ingestd.logs import Log
from ingestd.model.identity import text_hash
from ingestd.model.vectors import Matrix
from ingestd.ports.embedder import Embedder

_SHORTAGE_SECONDS = 60.0
# A transaction of the cache costs as much as 15 of its rows: a fast device's batches share one.
_PUT_ROWS = 256
_LOG = Log(__name__)


@dataclass(frozen=True, slots=True)
class Made:
    """Vectors of the texts of one call."""

    matrix: Matrix
    """One row a text, in the order of the texts; zeros where the vector was unusable."""
    bad: dict[int, str] = field(default_factory=dict[int, str])
    """Position → what is wrong with the vector that the text gets even by itself."""


class UnseenTexts:
    """Embeds texts in batches whose size follows the device; for one caller at a time.

    Parameters
    ----------
    embedder
        Counts the tokens and says the dimension; the owner's device embeds.
    cache
        Vectors are put there after each quarter of a second of the device's work, and however a call ends.
    batch_tokens
        Most padded tokens of a batch.
    """

    def __init__(self, owner: DeviceOwner, embedder: Embedder, cache: VectorCache | None, batch_tokens: int) -> None:
        self._owner = owner
        self._embedder = embedder
        self._cache = cache
        self._pace = Pace(ceiling=batch_tokens)
        self._kept: list[tuple[str, NDArray[Any]]] = []
        self._kept_seconds = 0.0

    def embed(self, texts: Sequence[str], progress: Callable[[int], None]) -> Made:
        """Vectors of distinct texts; ``progress`` is told after each batch how many texts it held.

        Raises
        ------
        ValueError
            When a text is over the embedder's limit; nothing was embedded then.
        EmbedderUnavailable
            As :meth:`DeviceOwner.embed`, or when the device has no memory for a lone text.
        """
        counts = self._counts_within_limit(texts)
        order = longest_first(counts)
        lengths = [counts[position] for position in order]
        made = Made(np.zeros((len(texts), self._embedder.dimension), np.float32))
        start = 0
        try:
            while start < len(order):
                end = batch_end(lengths, start, token_budget=self._pace.budget, max_rows=BATCH_ROWS)
                if self._fill(made, texts, order[start:end], lengths[start] * (end - start)):
                    start, done = end, end - start
                    if len(self._kept) >= _PUT_ROWS or self._kept_seconds >= BATCH_SECONDS:
                        self._put()
                    progress(done)
        finally:
            self._put()
        return made

    def _counts_within_limit(self, texts: Sequence[str]) -> list[int]:
        counts = self._embedder.count_tokens(texts)
        for text, count in zip(texts, counts, strict=True):
            if count > self._embedder.max_tokens:
                raise ValueError(
                    f"a text of {count} tokens ({text[:40]!r}…) is over the {self._embedder.max_tokens} that the embedder "
                    f"{self._embedder.stage.name!r} takes: no chunk may be so long"
                )
        return counts

    def _fill(self, made: Made, texts: Sequence[str], batch: Sequence[int], padded_tokens: int) -> bool:
        """Embed the texts at these positions; ``False`` when the batch must be made smaller first."""
        try:
            vectors, seconds = self._owner.embed([texts[position] for position in batch])
        except MemoryError as shortage:
            if len(batch) == 1:
                raise _too_small(shortage) from shortage
            self._pace = after_shortage(self._pace, padded_tokens=padded_tokens)
            _LOG.warning("embedder.short_of_memory", batch_tokens=padded_tokens, from_now_on=self._pace.ceiling)
            return False
        self._kept_seconds += seconds
        self._pace = after_batch(self._pace, padded_tokens=padded_tokens, seconds=seconds)
        bad = set(bad_rows(vectors, rows=len(batch), dimension=self._embedder.dimension))
        good = [row for row in range(len(batch)) if row not in bad]
        if good:
            self._keep(made, texts, [batch[row] for row in good], vectors[good])
        for row in sorted(bad):
            self._fill_alone(made, texts, batch[row])
        return True

    def _fill_alone(self, made: Made, texts: Sequence[str], position: int) -> None:
        try:
            vector, _ = self._owner.embed([texts[position]])
        except MemoryError as shortage:
            raise _too_small(shortage) from shortage
        dimension = self._embedder.dimension
        if bad_rows(vector, rows=1, dimension=dimension):
            made.bad[position] = what_is_wrong(vector, dimension=dimension)
        else:
            self._keep(made, texts, [position], vector)

    def _keep(self, made: Made, texts: Sequence[str], positions: Sequence[int], vectors: NDArray[Any]) -> None:
        made.matrix[list(positions)] = vectors
        self._kept += ((texts[position], vector) for position, vector in zip(positions, vectors, strict=True))

    def _put(self) -> None:
        kept, self._kept, self._kept_seconds = self._kept, [], 0.0
        if kept and self._cache is not None:
            hashes = [text_hash(text) for text, _ in kept]
            self._cache.put(self._embedder.stage.digest, hashes, np.stack([vector for _, vector in kept]))


def _too_small(shortage: MemoryError) -> EmbedderUnavailable:
    way_out = "free memory on the device, or choose a smaller embedder"
    return EmbedderUnavailable(
        f"the embedder's device has no memory for one text ({shortage}): {way_out}", delay_seconds=_SHORTAGE_SECONDS
    )
