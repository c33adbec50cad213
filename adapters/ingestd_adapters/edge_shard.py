"""Keeps points in this process, with Qdrant's embedded engine."""

from collections.abc import Iterator, Sequence

import numpy as np
import qdrant_edge as engine
from numpy.typing import NDArray

from ingestd.failpoints import failpoint
from ingestd.model.identity import PointId
from ingestd.model.point import Deletion, Generation, Hit, PayloadOverwrite, Points, SearchFilter, StoredPoint
from ingestd.model.writable import check_vectors
from ingestd_adapters import edge_engine, qdrant_batches
from ingestd_adapters.edge_generations import EdgeGenerations
from ingestd_adapters.edge_page import PAGE, Page
from ingestd_adapters.edge_space import check_room
from ingestd_adapters.qdrant_batches import Batch
from ingestd_adapters.qdrant_payload import given, kept


class EdgeShards(EdgeGenerations):
    """Store on the embedded engine.

    Calls hold the interpreter's lock while the engine works. One process at a time can have a generation open.
    """

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        """As the port says."""
        self.shard(generation)
        for batch in qdrant_batches.upserts(self.instance, generation, points):
            self.write(generation, batch)

    def write(self, generation: Generation, batch: Batch) -> None:
        """Upsert a batch that was checked."""
        rows = zip(batch.ids, batch.vectors.tolist(), batch.payloads, strict=True)
        points = [engine.Point(point, vector, kept(payload)) for point, vector, payload in rows]
        fence = edge_engine.fenced(self.instance, batch.version)
        failpoint("store.upsert")
        self._update(generation, engine.UpdateOperation.upsert_points(points, condition=fence))
        failpoint("store.upserted")

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        """As the port says."""
        self.shard(generation)
        for batch in qdrant_batches.overwrites(self.instance, overwrites):
            self.rewrite(generation, batch.items)

    def rewrite(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        """Overwrite payloads that were checked."""
        for overwrite in overwrites:
            fence = edge_engine.fenced(self.instance, overwrite.version, (overwrite.id,))
            failpoint("store.overwrite")
            operation = engine.UpdateOperation.overwrite_payload_by_filter(fence, kept(overwrite.payload))
            self._update(generation, operation)
        failpoint("store.overwritten")

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        """As the port says."""
        self.shard(generation)
        for version, ids in qdrant_batches.deletions(deletions):
            fence = edge_engine.fenced(self.instance, version, ids)
            failpoint("store.delete")
            self._update(generation, engine.UpdateOperation.delete_points_by_filter(fence))
            failpoint("store.deleted")

    def flush(self, generation: Generation) -> None:
        """As the port says; about 0.1 to 0.3 s, whatever was written."""
        shard = self.shard(generation)
        failpoint("store.flush")
        # Before, so that what another thread writes meanwhile is flushed again.
        self.unflushed.discard(generation.name)
        try:
            with edge_engine.translated(self.home(generation)):
                shard.flush()
        except BaseException:
            self.unflushed.add(generation.name)
            raise
        failpoint("store.flushed")

    def search(
        self, generation: Generation, vector: NDArray[np.float32], limit: int, narrowed: SearchFilter
    ) -> tuple[Hit, ...]:
        """As the port says."""
        check_vectors(vector.reshape(1, -1), 1, generation.dimension)
        request = engine.QueryRequest(
            limit=limit,
            query=engine.Query.Nearest(vector.tolist()),
            filter=edge_engine.narrowing(self.instance, narrowed),
            with_payload=True,
        )
        shard = self.shard(generation)
        with edge_engine.translated(self.home(generation)):
            found = shard.query(request)
        return tuple(Hit(id=PointId(str(hit.id)), score=hit.score, payload=given(hit.payload)) for hit in found)

    def scroll(self, generation: Generation, fields: Sequence[str], *, vectors: bool = False) -> Iterator[StoredPoint]:
        """As the port says, page by page."""
        page = self.page(generation, fields, vectors=vectors)
        yield from page.points
        while page.next is not None:
            page = self.page(generation, fields, vectors=vectors, start=page.next)
            yield from page.points

    def page(
        self, generation: Generation, fields: Sequence[str], *, vectors: bool, start: PointId | None = None
    ) -> Page:
        """Points of this instance from an id on, at most a page full."""
        request = engine.ScrollRequest(
            offset=start,
            limit=PAGE,
            filter=edge_engine.own(self.instance),
            with_payload=list(fields) if fields else False,
            with_vector=vectors,
        )
        shard = self.shard(generation)
        with edge_engine.translated(self.home(generation)):
            records, following = shard.scroll(request)
        points = tuple(_stored(record, vectors=vectors) for record in records)
        return Page(points=points, next=None if following is None else PointId(str(following)))

    def retrieve(self, generation: Generation, ids: Sequence[PointId]) -> tuple[StoredPoint, ...]:
        """As the port says."""
        shard = self.shard(generation)
        with edge_engine.translated(self.home(generation)):
            records = shard.retrieve(list(ids), with_payload=True, with_vector=False)
        points = (_stored(record, vectors=False) for record in records)
        return tuple(point for point in points if point.payload.get("ingestd") == self.instance)

    def count(self, generation: Generation) -> int:
        """As the port says; exact."""
        shard = self.shard(generation)
        with edge_engine.translated(self.home(generation)):
            return shard.count(engine.CountRequest(exact=True, filter=edge_engine.own(self.instance)))

    def _update(self, generation: Generation, operation: engine.UpdateOperation) -> None:
        shard = self.shard(generation)
        home = self.home(generation)
        check_room(home, self.min_free_bytes)
        self.unflushed.add(generation.name)
        with edge_engine.translated(home):
            shard.update(operation)


def _stored(record: engine.Record, *, vectors: bool) -> StoredPoint:
    vector = edge_engine.dense(record) if vectors else None
    return StoredPoint(id=PointId(str(record.id)), payload=given(record.payload), vector=vector)
