"""What we ask of the embedded engine, in its own types."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as engine

from ingestd.errors import OutOfSpace, StoreUnavailable
from ingestd.model.identity import Instance, PointId
from ingestd.model.point import SearchFilter
from ingestd_adapters.edge_space import free_bytes
from ingestd_adapters.qdrant_payload import FOLDERS, INDEXED, below

_FULL_BYTES = 1024 * 1024
_KINDS = {
    "keyword": engine.PayloadSchemaType.Keyword,
    "integer": engine.PayloadSchemaType.Integer,
    "datetime": engine.PayloadSchemaType.Datetime,
}


def create(place: Path, dimension: int) -> None:
    """Make a shard's files, with the payload indexes: they are cheap only before the points come."""
    with translated(place):
        vectors = engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine)
        shard = engine.EdgeShard.create(str(place), engine.EdgeConfig(vectors=vectors))
        for field, kind in INDEXED.items():
            shard.update(engine.UpdateOperation.create_field_index(field, _KINDS[kind]))
        shard.flush()
        shard.close()


def load(place: Path) -> engine.EdgeShard:
    """Open a shard's files; nobody else may have them open."""
    with translated(place):
        return engine.EdgeShard.load(str(place))


def own(instance: Instance, *more: engine.FieldCondition | engine.HasIdCondition | engine.Filter) -> engine.Filter:
    """Filter for the instance's points that meet the conditions."""
    return engine.Filter(must=[_equals("ingestd", instance), *more])


def fenced(instance: Instance, version: int, ids: Iterable[PointId] = ()) -> engine.Filter:
    """Filter for the instance's points below the version; among the ids, when there are any."""
    below_version = engine.FieldCondition("doc_version", range=engine.RangeFloat(lt=version))
    named: set[Any] = set(ids)
    return own(instance, *([engine.HasIdCondition(named)] if named else []), below_version)


def narrowing(instance: Instance, narrowed: SearchFilter) -> engine.Filter:
    """Filter for the instance's points that a search may give."""
    conditions: list[engine.FieldCondition | engine.Filter] = [_equals("tags", tag) for tag in narrowed.tags]
    if narrowed.root is not None:
        conditions.append(_equals("root", narrowed.root))
    prefix = below(narrowed.path_prefix)
    if prefix is not None:
        conditions.append(engine.Filter(should=[_equals("path", prefix), _equals(FOLDERS, prefix)]))
    return own(instance, *conditions)


def dense(record: engine.Record) -> tuple[float, ...]:
    """The record's one unnamed vector."""
    vector: Any = record.vector
    return tuple(vector)


@contextmanager
def translated(place: Path) -> Generator[None]:
    """Errors of the engine as errors of our tree."""
    try:
        yield
    except Exception as error:
        # The engine raises bare Exception for whatever it meets; its input was checked before.
        if type(error) is not Exception:
            raise
        if free_bytes(place) < _FULL_BYTES:
            raise OutOfSpace(f"the disk of {place} is full: {error}") from error
        raise StoreUnavailable(
            f"the embedded store in {place} failed: {error}; if it stays so, stop the daemon, "
            f"move {place.parent} away and run `ingestd sync`"
        ) from error


def _equals(field: str, value: str) -> engine.FieldCondition:
    return engine.FieldCondition(field, match=engine.MatchValue(value))
