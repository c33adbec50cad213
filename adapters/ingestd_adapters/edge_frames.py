"""Requests to the store's process as frames: JSON for what is small, raw bytes for vectors."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ingestd.model.identity import CollectionName, Instance, PointId
from ingestd.model.point import Claim, Generation, Hit, PayloadOverwrite, SearchFilter, StoredPoint
from ingestd_adapters.edge_page import Page
from ingestd_adapters.qdrant_batches import Batch, Overwrites

if TYPE_CHECKING:
    # NumPy costs a command that touches no vector a tenth of a second.
    import numpy as np
    from numpy.typing import NDArray

Head = dict[str, Any]
Frame = tuple[Head, bytes]
_NUMBER = "<f4"
_NUMBER_BYTES = 4


def asked(operation: str, generation: Generation | None = None, **more: Any) -> Head:
    """Head of a request."""
    about = {} if generation is None else {"generation": dataclasses.asdict(generation)}
    return {"op": operation, **about, **more}


def generation_of(head: Mapping[str, Any]) -> Generation:
    """Generation that a request is about."""
    value = head["generation"]
    return Generation(
        collection=CollectionName(value["collection"]),
        number=value["number"],
        dimension=value["dimension"],
        embed_digest=value["embed_digest"],
    )


def upsert(generation: Generation, batch: Batch) -> Frame:
    """Request that writes a batch: the vectors' rows, then the payloads as one JSON array."""
    vectors = batch.vectors.astype(_NUMBER, copy=False).tobytes()
    return asked("upsert", generation, version=batch.version, ids=batch.ids), vectors + _array(batch.encoded)


def batch_of(head: Mapping[str, Any], blob: bytes) -> Batch:
    """Batch that :func:`upsert` made a frame of."""
    import numpy as np

    shape = (len(head["ids"]), generation_of(head).dimension)
    end = shape[0] * shape[1] * _NUMBER_BYTES
    return Batch(
        version=head["version"],
        ids=tuple(map(PointId, head["ids"])),
        payloads=tuple(json.loads(memoryview(blob)[end:].tobytes())),
        encoded=(),
        vectors=np.frombuffer(blob, dtype=_NUMBER, count=shape[0] * shape[1]).reshape(shape),
    )


def overwrite(generation: Generation, batch: Overwrites) -> Frame:
    """Request that overwrites payloads."""
    ids = [item.id for item in batch.items]
    versions = [item.version for item in batch.items]
    return asked("overwrite", generation, ids=ids, versions=versions), _array(batch.encoded)


def overwrites_of(head: Mapping[str, Any], blob: bytes) -> tuple[PayloadOverwrite, ...]:
    """Overwrites that :func:`overwrite` made a frame of."""
    rows = zip(head["ids"], head["versions"], json.loads(blob), strict=True)
    return tuple(
        PayloadOverwrite(id=PointId(point), version=version, payload=payload) for point, version, payload in rows
    )


def search(generation: Generation, vector: "NDArray[np.float32]", limit: int, narrowed: SearchFilter) -> Frame:
    """Request for the nearest points."""
    head = asked("search", generation, limit=limit, narrowed=dataclasses.asdict(narrowed))
    return head, vector.astype(_NUMBER, copy=False).tobytes()


def vector_of(blob: bytes) -> "NDArray[np.float32]":
    """Vector of shape ``(d,)`` that a search is for."""
    import numpy as np

    return np.frombuffer(blob, dtype=_NUMBER)


def narrowed_of(head: Mapping[str, Any]) -> SearchFilter:
    """What narrows the search asked for."""
    value = head["narrowed"]
    return SearchFilter(root=value["root"], path_prefix=value["path_prefix"], tags=tuple(value["tags"]))


def found(hits: Iterable[Hit]) -> Frame:
    """Reply to a search."""
    return {"hits": [(hit.id, hit.score, hit.payload) for hit in hits]}, b""


def hits_of(head: Mapping[str, Any]) -> tuple[Hit, ...]:
    """Hits that :func:`found` made a frame of."""
    return tuple(Hit(id=PointId(point), score=score, payload=payload) for point, score, payload in head["hits"])


def turned(page: Page) -> Frame:
    """Reply with a page of points: payloads as JSON, vectors as rows."""
    import numpy as np

    vectors = [point.vector for point in page.points if point.vector is not None]
    head = {"points": [(point.id, point.payload) for point in page.points], "next": page.next, "vectors": bool(vectors)}
    return head, np.array(vectors, dtype=_NUMBER).tobytes()


def page_of(head: Mapping[str, Any], blob: bytes) -> Page:
    """Page that :func:`turned` made a frame of."""
    import numpy as np

    points = head["points"]
    rows = (
        np.frombuffer(blob, dtype=_NUMBER).reshape(len(points), -1).tolist()
        if head["vectors"]
        else [None] * len(points)
    )
    return Page(
        points=tuple(
            StoredPoint(id=PointId(point), payload=payload, vector=None if row is None else tuple(row))
            for (point, payload), row in zip(points, rows, strict=True)
        ),
        next=head["next"],
    )


def claim_of(value: Mapping[str, Any] | None) -> Claim | None:
    """Claim in a frame."""
    if value is None:
        return None
    return Claim(instance=Instance(value["instance"]), state_id=value["state_id"], token=value["token"])


def _array(encoded: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(encoded) + b"]"
