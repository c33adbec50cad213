"""Stores that fail, or apply a write later than they said."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ingestd.errors import StoreUnavailable
from ingestd.model.identity import PointId
from ingestd.model.point import Claim, Deletion, Generation, Hit, PayloadOverwrite, Points, SearchFilter, StoredPoint
from ingestd.ports.store import Store


class Through:
    """Hands every call on to another store; writes go through :meth:`writing`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def writing(self, kind: str, call: Callable[[], None]) -> None:
        """A write of this kind."""
        call()

    def prepare(self, generation: Generation) -> bool:
        return self.store.prepare(generation)

    def generations(self) -> tuple[str, ...]:
        return self.store.generations()

    def claim(self, generation: Generation) -> Claim | None:
        return self.store.claim(generation)

    def record_claim(self, generation: Generation, claim: Claim) -> None:
        self.store.record_claim(generation, claim)

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        self.writing("upsert", lambda: self.store.upsert(generation, points))

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        self.writing("overwrite", lambda: self.store.overwrite_payloads(generation, overwrites))

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        self.writing("delete", lambda: self.store.delete(generation, deletions))

    def flush(self, generation: Generation) -> None:
        self.writing("flush", lambda: self.store.flush(generation))

    def search(self, generation: Generation, vector: np.ndarray, limit: int, narrowed: SearchFilter) -> tuple[Hit, ...]:
        return self.store.search(generation, vector, limit, narrowed)

    def scroll(self, generation: Generation, fields: Sequence[str], *, vectors: bool = False) -> Iterator[StoredPoint]:
        return self.store.scroll(generation, fields, vectors=vectors)

    def retrieve(self, generation: Generation, ids: Sequence[PointId]) -> tuple[StoredPoint, ...]:
        return self.store.retrieve(generation, ids)

    def count(self, generation: Generation) -> int:
        return self.store.count(generation)

    def drop(self, generation: Generation) -> None:
        self.store.drop(generation)

    def publish_alias(self, generation: Generation) -> None:
        self.store.publish_alias(generation)

    def close(self) -> None:
        self.store.close()


class FailingStore(Through):
    """Fails the nth write, before or after it was applied."""

    def __init__(self, store: Store, nth: int, *, applied: bool) -> None:
        super().__init__(store)
        self.failed = ""
        self._nth = nth
        self._applied = applied

    def writing(self, kind: str, call: Callable[[], None]) -> None:
        """Fail when it is this write's turn."""
        self._nth -= 1
        if self._nth == 0:
            self.failed = kind
            if self._applied:
                call()
            raise StoreUnavailable(f"the store failed at {kind}")
        call()


class LateStore(Through):
    """Lets the nth write time out; it is applied when :meth:`arrive` is called."""

    def __init__(self, store: Store, nth: int) -> None:
        super().__init__(store)
        self.kind = ""
        self._nth = nth
        self._late: Any = None

    def writing(self, kind: str, call: Callable[[], None]) -> None:
        """Keep the write back when it is its turn."""
        self._nth -= 1
        if self._nth == 0:
            self.kind, self._late = kind, call
            raise StoreUnavailable(f"no answer to {kind}")
        call()

    def arrive(self) -> None:
        """Apply the write that was kept back."""
        self._late()
