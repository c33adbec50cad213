"""How a contract test opens the store it looks at, with points to write."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ingestd.model.identity import CollectionName, DocumentId, Instance, PointId, RootName, document_id
from ingestd.model.point import Generation, Points, SearchFilter
from ingestd.model.vectors import Matrix
from ingestd.ports.store import Store

DIMENSION = 8
GENERATION = Generation(collection=CollectionName("notes"), number=1, dimension=DIMENSION, embed_digest="e" * 64)
OURS = Instance("ours")
THEIRS = Instance("theirs")
EVERYTHING = SearchFilter()


def unit(*directions: int, dimension: int = DIMENSION) -> Matrix:
    """Unit vectors along the axes given: shape ``(len(directions), dimension)``."""
    return np.eye(dimension, dtype=np.float32)[list(directions)]


def point_ids(count: int, *, first: int = 0) -> tuple[PointId, ...]:
    """Ids in ascending order, the same at each call."""
    return tuple(PointId(f"{number:08x}-0000-5000-8000-000000000000") for number in range(first, first + count))


def made_points(
    version: int,
    ids: Sequence[PointId],
    vectors: Matrix,
    *,
    instance: Instance = OURS,
    path: str = "a/b.md",
    **more: Any,
) -> Points:
    """Points of one document, whose payloads hold the fields of the contract that a store looks at, with ``more``."""
    document = document_id(instance, RootName("docs"), path.encode())
    return Points(
        document=document,
        version=version,
        ids=tuple(ids),
        payloads=tuple(
            payload(version, document, instance=instance, path=path, chunk_index=n, **more) for n in range(len(ids))
        ),
        vectors=vectors,
    )


def payload(
    version: int, document: DocumentId, *, instance: Instance = OURS, path: str = "a/b.md", **more: Any
) -> dict[str, Any]:
    """A payload with what a store looks at, nested values and text that is not ASCII."""
    return {
        "doc_id": document,
        "doc_version": version,
        "ingestd": instance,
        "root": "docs",
        "path": path,
        "text": "Größe 測試 \u0000",
        "tags": [],
        "page_start": None,
        "modified_at": "2026-01-01T00:00:00Z",
        "meta": {"nested": [1, 2.5, {"deep": True}]},
        **more,
    }


class StoreOpening:
    """Opens stores for the tests that inherit it."""

    def open_store(self, place: Path, instance: Instance) -> Store:
        """Open the store at a place that the test owns; a second call sees what the first one wrote."""
        raise NotImplementedError

    @contextmanager
    def opened(self, place: Path, instance: Instance = OURS, *, prepared: bool = True) -> Generator[Store]:
        """Store that is closed at the end, with the collection made.

        A test that asks for it prepared leaves nothing but its own points behind: a class whose engine is slow
        to make a collection may hand the same one to all of them, emptied between.
        """
        store = self.open_store(place, instance)
        try:
            if prepared:
                store.prepare(GENERATION)
            yield store
        finally:
            store.close()


def texts(store: Store, ids: Sequence[PointId]) -> list[str]:
    """Payload field ``text`` of those of the points that exist, in the order of the ids."""
    found = {point.id: str(point.payload["text"]) for point in store.retrieve(GENERATION, ids)}
    return [found[point] for point in ids if point in found]


def refuses(kind: type[Exception], call: Callable[[], object]) -> None:
    """Fail unless the call raises an error of the kind."""
    try:
        call()
    except kind:
        return
    raise AssertionError(f"nothing refused with {kind.__name__}")
