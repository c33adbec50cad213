"""Vectors of texts: the owner's side of one embedder, with its cache in front.

A text is never embedded twice: what the cache holds is taken from there, a text that occurs twice in a call is embedded
once, and calls follow each other, so that the second of two with the same text finds it cached.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingestd.embed.batches import BATCH_TOKENS
from ingestd.embed.cache import VectorCache
from ingestd.embed.device import ChildDevice, Device, HereDevice
from ingestd.embed.named import embedder_named
from ingestd.embed.owner import CLOSE_SECONDS, DeviceOwner
from ingestd.embed.query import checked_query
from ingestd.embed.unseen import UnseenTexts
from ingestd.errors import BadVectors, EmbedderUnavailable
from ingestd.model.identity import TextHash, text_hash
from ingestd.model.recipe import Stage
from ingestd.model.vectors import Matrix
from ingestd.ports.embedder import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Vectors of the texts of one call."""

    matrix: Matrix
    """One row a text, in the order of the texts."""
    embedded: int
    """Texts that the device embedded."""
    reused: int
    """All the others: cached, or the same as one before in the call."""
    seconds: float
    """Wall time of the call, waiting included."""


class Embedding:
    """One embedder for all who need vectors; safe from any thread.

    Parameters
    ----------
    name, options
        Embedder as registered, and what its factory takes (JSON values). It runs in a process of its own, started
        when the first vector is asked for; tokens are counted in this one.
    cache
        Where vectors are kept between calls; ``None``: nowhere.
    idle_seconds
        After so long without use :meth:`unload_if_idle` ends the process; 0: never.
    batch_tokens
        Most padded tokens of a batch; fewer where the device is too slow or too small for them.
    embedder
        An embedder to be used in this process in place of the registered one, for tests and small uses.
    clock
        Seconds, rising.

    Raises
    ------
    ConfigurationError, AdapterUnavailable
        As :func:`~ingestd.embed.named.embedder_named`.
    """

    def __init__(
        self,
        *,
        name: str,
        options: Mapping[str, object],
        cache: VectorCache | None,
        idle_seconds: float = 0,
        batch_tokens: int = BATCH_TOKENS,
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = described = embedder or embedder_named(name, options)
        self._stage = described.stage
        self._cache = cache
        self._clock = clock
        self._calls = threading.Lock()

        def start() -> Device:
            if embedder is not None:
                return HereDevice(embedder)
            return ChildDevice(name, options, described.stage.digest)

        self._owner = DeviceOwner(start, idle_seconds=idle_seconds, clock=clock)
        self._unseen = UnseenTexts(self._owner, described, cache, batch_tokens)

    @property
    def stage(self) -> Stage:
        """Identity of the embedder; nothing is loaded to know it."""
        return self._stage

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """Most tokens of one text, special tokens included."""
        return self._embedder.max_tokens

    @property
    def tolerance(self) -> float:
        """Most that the cosine of two vectors of one text falls below 1."""
        return self._embedder.tolerance

    @property
    def device(self) -> str | None:
        """The device in use, ``None`` while nothing is started."""
        device = self._owner.device
        return None if device is None else device.name

    @property
    def pid(self) -> int | None:
        """Process that embeds, ``None`` while nothing is started or where it is this one."""
        device = self._owner.device
        return None if device is None else device.pid

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included."""
        return self._embedder.count_tokens(texts)

    def vectors(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda _texts: None) -> Embedded:
        """Vectors of the texts, each unknown text embedded once and cached before this returns.

        Parameters
        ----------
        texts
            In any order; hand over as many as there are, batches are filled across all of them.
        progress
            Called after each batch with how many texts it held. What it raises ends the call; whatever was embedded
            stays cached.

        Raises
        ------
        ValueError
            When a text is over :attr:`max_tokens`; nothing was embedded then.
        BadVectors
            When texts get unusable vectors even by themselves; ``rows`` are their positions. All others are cached.
        EmbedderUnavailable
            When the process died twice over the same batch, the device has no memory for one text, or all was closed.
        """
        began = self._clock()
        hashes = [text_hash(text) for text in texts]
        distinct = dict(zip(hashes, texts, strict=True))
        rows = {one: row for row, one in enumerate(distinct)}
        with self._calls:
            matrix, unseen = self._from_cache(tuple(distinct))
            made = self._unseen.embed([distinct[one] for one in unseen], progress)
        if made.bad:
            raise _bad_vectors(hashes, {unseen[row]: wrong for row, wrong in made.bad.items()})
        matrix[[rows[one] for one in unseen]] = made.matrix
        return Embedded(
            matrix=matrix[[rows[one] for one in hashes]],
            embedded=len(unseen),
            reused=len(texts) - len(unseen),
            seconds=self._clock() - began,
        )

    def count_unknown(self, texts: Sequence[str]) -> int:
        """How many distinct texts :meth:`vectors` would have to embed."""
        with self._calls:
            return len(self._from_cache(tuple(dict.fromkeys(text_hash(text) for text in texts)))[1])

    def query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query, shape ``(d,)``, norm 1; it goes ahead of all batches but the one in hand.

        Raises
        ------
        ConfigurationError
            When the query is over the embedder's limit.
        BadVectors, EmbedderUnavailable
            As :meth:`vectors`.
        """
        try:
            return checked_query(self._owner.query(text), self.dimension)
        except MemoryError as error:
            raise EmbedderUnavailable(f"the embedder's device has no memory for a query: {error}") from error

    def unload_if_idle(self, now: float) -> bool:
        """End an idle process at ``now`` (on the clock); say whether one was ended."""
        return self._owner.unload_if_idle(now)

    def close(self, *, grace_seconds: float = CLOSE_SECONDS) -> None:
        """End the process for good.

        Calls in hand fail with ``EmbedderUnavailable`` after their batch, which has ``grace_seconds`` to finish; what
        they embedded stays cached. The cache is its maker's to close.
        """
        self._owner.close(grace_seconds)

    def _from_cache(self, hashes: Sequence[TextHash]) -> tuple[Matrix, tuple[TextHash, ...]]:
        """Rows of the known ones, zeros for the others; and the others."""
        matrix = np.zeros((len(hashes), self.dimension), np.float32)
        if self._cache is None:
            return matrix, tuple(hashes)
        positions, vectors = self._cache.get(self.stage.digest, hashes, self.dimension)
        matrix[positions] = vectors
        known = set(positions.tolist())
        return matrix, tuple(one for row, one in enumerate(hashes) if row not in known)


def _bad_vectors(hashes: Sequence[TextHash], wrong: Mapping[TextHash, str]) -> BadVectors:
    rows = tuple(at for at, one in enumerate(hashes) if one in wrong)
    first = wrong[hashes[rows[0]]]
    return BadVectors(
        f"{len(rows)} of {len(hashes)} texts get unusable vectors even alone; of the text at {rows[0]}: {first}",
        rows=rows,
    )
