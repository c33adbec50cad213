"""A store in memory that can lose power.

It keeps the port's contract to the letter, so that a pipeline proved on it is proved on the engines: what was not
flushed is gone after :meth:`Shelf.lose_power`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.errors import StoreMismatch, StoreUnavailable
from ingestd.model.identity import Instance, PointId
from ingestd.model.point import Claim, Deletion, Generation, Hit, PayloadOverwrite, Points, SearchFilter, StoredPoint
from ingestd.model.writable import check_id, check_vectors, encoded_overwrite, encoded_points


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    payload: bytes
    vector: tuple[float, ...]
    doc_version: int
    instance: Instance


@dataclass(slots=True)
class _Collection:
    generation: Generation
    claim: Claim | None = None
    points: dict[PointId, _Kept] = field(default_factory=dict[PointId, _Kept])
    durable: dict[PointId, _Kept] = field(default_factory=dict[PointId, _Kept])


@dataclass(slots=True)
class Shelf:
    """What outlives a :class:`MemoryStore`: the disk that its instances share."""

    collections: dict[str, _Collection] = field(default_factory=dict[str, _Collection])

    def lose_power(self) -> None:
        """Forget every point written since the last flush."""
        for collection in self.collections.values():
            collection.points = dict(collection.durable)


class MemoryStore:
    """Store of one instance on a shelf.

    Parameters
    ----------
    instance
        The marker of every point that it writes, reads or deletes.
    shelf
        Shared by stores that look at the same points; one of its own by default.
    """

    def __init__(self, instance: Instance, shelf: Shelf | None = None) -> None:
        self._instance = instance
        self._shelf = Shelf() if shelf is None else shelf
        self._closed = False

    def prepare(self, generation: Generation) -> bool:
        """As the port says."""
        self._check_open()
        if generation.name in self._shelf.collections:
            self._collection(generation)
            return False
        self._shelf.collections[generation.name] = _Collection(generation)
        return True

    def generations(self) -> tuple[str, ...]:
        """As the port says."""
        self._check_open()
        return tuple(sorted(self._shelf.collections))

    def claim(self, generation: Generation) -> Claim | None:
        """As the port says."""
        self._check_open()
        kept = self._shelf.collections.get(generation.name)
        return None if kept is None else kept.claim

    def record_claim(self, generation: Generation, claim: Claim) -> None:
        """As the port says."""
        self._collection(generation).claim = claim

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        """As the port says."""
        kept = self._collection(generation).points
        for written in points:
            encoded = encoded_points(self._instance, generation, written)
            for point, payload, vector in zip(written.ids, encoded, written.vectors, strict=True):
                if point not in kept or self._below(kept[point], written.version):
                    kept[point] = _Kept(
                        payload=payload,
                        vector=tuple(vector.tolist()),
                        doc_version=written.version,
                        instance=self._instance,
                    )

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        """As the port says."""
        kept = self._collection(generation).points
        for overwrite in overwrites:
            payload = encoded_overwrite(self._instance, overwrite)
            point = kept.get(overwrite.id)
            if point is not None and self._below(point, overwrite.version):
                kept[overwrite.id] = replace(point, payload=payload, doc_version=overwrite.version)

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        """As the port says."""
        kept = self._collection(generation).points
        for deletion in deletions:
            check_id(deletion.id)
            point = kept.get(deletion.id)
            if point is not None and self._below(point, deletion.below_version):
                del kept[deletion.id]

    def flush(self, generation: Generation) -> None:
        """As the port says."""
        collection = self._collection(generation)
        collection.durable = dict(collection.points)

    def search(
        self, generation: Generation, vector: NDArray[np.float32], limit: int, narrowed: SearchFilter
    ) -> tuple[Hit, ...]:
        """As the port says; compares with every point."""
        check_vectors(vector.reshape(1, -1), 1, generation.dimension)
        hits = [
            Hit(id=point, score=_cosine(vector, kept.vector), payload=_payload(kept))
            for point, kept in self._own(generation)
            if _matches(_payload(kept), narrowed)
        ]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit])

    def scroll(self, generation: Generation, fields: Sequence[str], *, vectors: bool = False) -> Iterator[StoredPoint]:
        """As the port says."""
        for point, kept in sorted(self._own(generation)):
            payload = _payload(kept)
            named = {name: payload[name] for name in fields if name in payload}
            yield StoredPoint(id=point, payload=named, vector=kept.vector if vectors else None)

    def retrieve(self, generation: Generation, ids: Sequence[PointId]) -> tuple[StoredPoint, ...]:
        """As the port says."""
        own = dict(self._own(generation))
        return tuple(StoredPoint(id=point, payload=_payload(own[point])) for point in ids if point in own)

    def count(self, generation: Generation) -> int:
        """As the port says."""
        return len(self._own(generation))

    def publish_alias(self, generation: Generation) -> None:
        """Nothing: the ledger names the live generation."""

    def drop(self, generation: Generation) -> None:
        """As the port says."""
        self._check_open()
        self._shelf.collections.pop(generation.name, None)

    def close(self) -> None:
        """As the port says; a second time does nothing."""
        if not self._closed:
            for collection in self._shelf.collections.values():
                collection.durable = dict(collection.points)
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store in memory is closed")

    def _collection(self, generation: Generation) -> _Collection:
        self._check_open()
        found = self._shelf.collections.get(generation.name)
        if found is None:
            raise StoreMismatch(f"the collection {generation.name} does not exist: prepare it first")
        if found.generation != generation:
            raise StoreMismatch(f"the collection {generation.name} holds {found.generation}, not {generation}")
        return found

    def _own(self, generation: Generation) -> list[tuple[PointId, _Kept]]:
        kept = self._collection(generation).points
        return [(point, value) for point, value in kept.items() if value.instance == self._instance]

    def _below(self, point: _Kept, version: int) -> bool:
        return point.instance == self._instance and point.doc_version < version


def _payload(kept: _Kept) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(kept.payload)
    return payload


def _cosine(query: NDArray[np.float32], vector: tuple[float, ...]) -> float:
    other = np.asarray(vector, dtype=np.float32)
    return float(query @ other / (np.linalg.norm(query) * np.linalg.norm(other)))


def _matches(payload: Mapping[str, Any], narrowed: SearchFilter) -> bool:
    prefix = (narrowed.path_prefix or "").rstrip("/")
    path = str(payload.get("path", ""))
    return (
        narrowed.root in (None, payload.get("root"))
        and (not prefix or path == prefix or path.startswith(f"{prefix}/"))
        and set(narrowed.tags) <= set(payload.get("tags", ()))
    )
