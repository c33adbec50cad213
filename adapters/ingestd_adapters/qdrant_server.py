"""Keeps points on a Qdrant server, through its client."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models

from ingestd.failpoints import failpoint
from ingestd.model.identity import PointId
from ingestd.model.point import Deletion, Generation, Hit, PayloadOverwrite, Points, SearchFilter, StoredPoint
from ingestd.model.writable import check_id, check_vectors
from ingestd_adapters import qdrant_batches, qdrant_filters
from ingestd_adapters.qdrant_attempts import NotDone
from ingestd_adapters.qdrant_batches import Batch, Overwrites
from ingestd_adapters.qdrant_collections import QdrantCollections
from ingestd_adapters.qdrant_payload import given, kept

_PAGE = 1_000
_IDS_A_REQUEST = 256


class QdrantServer(QdrantCollections):
    """Store on a server; every write waits until the server has applied it."""

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        """As the port says, in batches."""
        for batch in qdrant_batches.upserts(self.instance, generation, points):
            failpoint("store.upsert")
            self._upsert(generation, batch)
            failpoint("store.upserted")

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        """As the port says, in batches."""
        for batch in qdrant_batches.overwrites(self.instance, overwrites):
            failpoint("store.overwrite")
            self._overwrite(generation, batch)
            failpoint("store.overwritten")

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        """As the port says."""
        for version, ids in qdrant_batches.deletions(deletions):
            failpoint("store.delete")
            self._delete(generation, version, ids)
            failpoint("store.deleted")

    def flush(self, generation: Generation) -> None:
        """As the port says: nothing is left to do, since a server logs a write durably before it answers."""

    def search(
        self, generation: Generation, vector: NDArray[np.float32], limit: int, narrowed: SearchFilter
    ) -> tuple[Hit, ...]:
        """As the port says."""
        check_vectors(vector.reshape(1, -1), 1, generation.dimension)
        found = self.ask(
            lambda client: client.query_points(
                generation.name,
                query=vector.tolist(),
                query_filter=qdrant_filters.narrowing(self.instance, narrowed),
                limit=limit,
                with_payload=True,
            )
        )
        return tuple(Hit(id=PointId(str(hit.id)), score=hit.score, payload=given(hit.payload)) for hit in found.points)

    def scroll(self, generation: Generation, fields: Sequence[str], *, vectors: bool = False) -> Iterator[StoredPoint]:
        """As the port says, page by page."""
        start: str | int | None = None
        while True:
            records, following = self._page(generation, fields, vectors=vectors, start=start)
            for record in records:
                yield _stored(record, vectors=vectors)
            if following is None:
                return
            start = following

    def retrieve(self, generation: Generation, ids: Sequence[PointId]) -> tuple[StoredPoint, ...]:
        """As the port says."""
        found: list[StoredPoint] = []
        for cut in qdrant_batches.pages(ids, _IDS_A_REQUEST):
            found += self._retrieve(generation, cut)
        return tuple(point for point in found if point.payload.get("ingestd") == self.instance)

    def count(self, generation: Generation) -> int:
        """As the port says; exact."""
        own = qdrant_filters.own(self.instance)
        return self.ask(lambda client: client.count(generation.name, count_filter=own, exact=True)).count

    def _upsert(self, generation: Generation, batch: Batch) -> None:
        points = models.Batch(
            ids=list(batch.ids),
            vectors=batch.vectors.tolist(),
            payloads=[kept(payload) for payload in batch.payloads],
        )
        fence = qdrant_filters.fenced(self.instance, batch.version)
        self.ask(lambda client: _done(client.upsert(generation.name, points, wait=True, update_filter=fence)))

    def _delete(self, generation: Generation, version: int, ids: Sequence[PointId]) -> None:
        selector = models.FilterSelector(filter=qdrant_filters.fenced(self.instance, version, ids))
        self.ask(lambda client: _done(client.delete(generation.name, selector, wait=True)))

    def _retrieve(self, generation: Generation, ids: Sequence[PointId]) -> list[StoredPoint]:
        for point in ids:
            check_id(point)
        records = self.ask(lambda client: client.retrieve(generation.name, list(ids)))
        return [_stored(record, vectors=False) for record in records]

    def _overwrite(self, generation: Generation, batch: Overwrites) -> None:
        operations: list[models.UpdateOperation] = [
            models.OverwritePayloadOperation(
                overwrite_payload=models.SetPayload(
                    payload=kept(item.payload), filter=qdrant_filters.fenced(self.instance, item.version, (item.id,))
                )
            )
            for item in batch.items
        ]

        def write(client: QdrantClient) -> None:
            for result in client.batch_update_points(generation.name, operations, wait=True):
                _done(result)

        self.ask(write)

    def _page(
        self, generation: Generation, fields: Sequence[str], *, vectors: bool, start: str | int | None
    ) -> tuple[list[models.Record], str | int | None]:
        records, following = self.ask(
            lambda client: client.scroll(
                generation.name,
                scroll_filter=qdrant_filters.own(self.instance),
                limit=_PAGE,
                offset=start,
                with_payload=list(fields) if fields else False,
                with_vectors=vectors,
            )
        )
        return records, following if isinstance(following, str | int) or following is None else str(following)


def _done(result: models.UpdateResult) -> None:
    # wait_timeout (servers since 1.17) is no error for the client, and not done.
    if result.status != models.UpdateStatus.COMPLETED:
        raise NotDone(f"the server answered {result.status} to a write that was to be completed")


def _stored(record: models.Record, *, vectors: bool) -> StoredPoint:
    vector = record.vector if vectors else None
    numbers = (
        tuple(float(number) for number in vector if isinstance(number, float)) if isinstance(vector, list) else None
    )
    return StoredPoint(id=PointId(str(record.id)), payload=given(record.payload), vector=numbers)
