"""Brings versions of documents into the store: before the commit only add, after it only roll forward.

The order, each line one durable step, shared by a group of documents:

1. the outbox of these documents is drained;
2. ``intent``: one transaction states version N of each and the ids that it adds;
3. those ids are upserted, each write fenced by ``doc_version < N``; flush;
4. ``serve``: one transaction makes N served, posts overwrites of kept ids and deletions of dropped ones to the outbox;
5. the outbox is applied (fenced likewise, never by bare id); flush;
6. ``outbox``: one transaction empties what was flushed.

Killed anywhere, the next start repeats from what the ledger says: see :mod:`ingestd.publish.recovery`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from ingestd.failpoints import failpoint
from ingestd.model.chunk import Chunk
from ingestd.model.identity import PointId
from ingestd.model.point import Deletion, Generation, PayloadOverwrite, Points
from ingestd.ports.store import Store
from ingestd.publish import points
from ingestd.publish.payload import Origin, payloads
from ingestd.state import documents, generations, intents, outcomes
from ingestd.state.documents import Made, ServedVersion
from ingestd.state.engine import Ledger, Transaction
from ingestd.state.generations import GenerationRow
from ingestd.state.intents import OutboxRow
from ingestd.state.sources import SourceRow

if TYPE_CHECKING:
    from ingestd.model.vectors import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A document made, ready to be published."""

    source: SourceRow
    generation: GenerationRow
    origin: Origin
    made: Made
    chunks: tuple[Chunk, ...]
    ids: tuple[PointId, ...]
    """One for each chunk."""
    vectors: "Mapping[PointId, Matrix]"
    """Of at least the ids that the served version lacks; each of shape ``(dimension,)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a group came to."""

    written: int
    """Points upserted."""
    overwritten: int
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    new: NewVersion
    document_id: int
    version: int
    swap: points.Swap


def publish(ledger: Ledger, store: Store, group: Sequence[NewVersion], now_ns: int) -> Published:
    """Publish a group of documents, no two of the same id and generation.

    Raises
    ------
    StoreUnavailable
        Nothing is lost: the group can be published again, or recovered at the next start.
    """
    drain(ledger, store, document_ids=_document_ids(ledger, group))
    opened = _intend(ledger, group)
    _add(store, opened, now_ns)
    owing = _serve(ledger, opened, now_ns)
    overwritten, deleted = drain(ledger, store, document_ids=owing)
    return Published(written=sum(len(one.swap.lacking) for one in opened), overwritten=overwritten, deleted=deleted)


def drain(
    ledger: Ledger, store: Store, *, generation_id: int | None = None, document_ids: Collection[int] | None = None
) -> tuple[int, int]:
    """Apply what the outbox owes, flush, then empty it; returns how many overwrites and deletions.

    Parameters
    ----------
    generation_id, document_ids
        Of one generation, or of some documents; without either, everything.
    """
    overwritten = deleted = 0
    while True:
        with ledger.read() as transaction:
            rows = intents.outbox(transaction, generation_id=generation_id, document_ids=document_ids)
            targets = {row.generation_id: generations.by_id(transaction, row.generation_id).generation for row in rows}
        if not rows:
            return overwritten, deleted
        for target, of_generation in groupby(
            sorted(rows, key=lambda row: (row.generation_id, row.id)), key=lambda row: row.generation_id
        ):
            counts = _apply(store, targets[target], tuple(of_generation))
            overwritten, deleted = overwritten + counts[0], deleted + counts[1]
        with ledger.write("outbox") as transaction:
            intents.empty_outbox(transaction, [row.id for row in rows])


def retire(ledger: Ledger, store: Store, gone: Sequence[SourceRow]) -> int:
    """Take the documents of these sources out of every generation; returns how many points were deleted.

    The rows of the documents are dropped after their points: a crash between leaves the outbox, not orphans. The rows
    of sources that are gone are dropped with them.
    """
    with ledger.write("retire") as transaction:
        ids = [document.id for source in gone for document in documents.of_source(transaction, source.id)]
        for source in gone:
            for document in documents.of_source(transaction, source.id):
                unserve(transaction, document)
    _, deleted = drain(ledger, store, document_ids=ids) if ids else (0, 0)
    with ledger.write("retired") as transaction:
        for id_ in ids:
            documents.drop(transaction, id_)
        for source in gone:
            outcomes.drop(transaction, source.id)
    return deleted


def unserve(transaction: Transaction, document: documents.DocumentRow) -> None:
    """Have readers see nothing of the document, and owe the store the deletion of all that it may hold of it."""
    version = document.last_version + 1
    held = documents.points(transaction, document.id) | intents.intended_points(transaction, document.id)
    intents.post(transaction, document.id, version, [Deletion(id=id_, below_version=version) for id_ in sorted(held)])
    documents.used_version(transaction, document.id, version)
    documents.unserve(transaction, document.id)
    intents.close_intent(transaction, document.id)


def _document_ids(ledger: Ledger, group: Sequence[NewVersion]) -> list[int]:
    with ledger.read() as transaction:
        found = (documents.find(transaction, new.generation.id, new.origin.doc_id) for new in group)
        return [document.id for document in found if document is not None]


def _intend(ledger: Ledger, group: Sequence[NewVersion]) -> list[_Opened]:
    opened: list[_Opened] = []
    with ledger.write("intent") as transaction:
        for new in group:
            document = documents.ensure(transaction, new.generation.id, new.origin.doc_id, new.source.id)
            change = points.swap(frozenset(new.ids), documents.points(transaction, document.id))
            version = document.last_version + 1
            intents.open_intent(transaction, document.id, version, change.lacking)
            opened.append(_Opened(new=new, document_id=document.id, version=version, swap=change))
    return opened


def _add(store: Store, opened: Sequence[_Opened], now_ns: int) -> None:
    by_generation = sorted(opened, key=lambda one: one.new.generation.id)
    for _, members in groupby(by_generation, key=lambda one: one.new.generation.id):
        group = tuple(members)
        generation = group[0].new.generation.generation
        added = [made for one in group if (made := _points(one, now_ns)).ids]
        if added:
            failpoint("publish.upsert.before")
            store.upsert(generation, added)
            failpoint("publish.upsert.after")
            store.flush(generation)
            failpoint("publish.upsert.flushed")


def _points(one: _Opened, now_ns: int) -> Points:
    import numpy as np

    new = one.new
    lacking = [(id_, chunk) for id_, chunk in zip(new.ids, new.chunks, strict=True) if id_ in one.swap.lacking]
    dimension = new.generation.generation.dimension
    return Points(
        document=new.origin.doc_id,
        version=one.version,
        ids=tuple(id_ for id_, _ in lacking),
        payloads=payloads((chunk for _, chunk in lacking), new.origin, one.version, now_ns),
        vectors=np.stack([new.vectors[id_] for id_, _ in lacking])
        if lacking
        else np.zeros((0, dimension), dtype=np.float32),
    )


def _serve(ledger: Ledger, opened: Sequence[_Opened], now_ns: int) -> list[int]:
    with ledger.write("serve") as transaction:
        return [document_id for one in opened for document_id in _serve_one(transaction, one, now_ns)]


def _serve_one(transaction: Transaction, one: _Opened, now_ns: int) -> list[int]:
    new, change = one.new, one.swap
    # Points of an earlier intent that never was served are in neither version.
    left_over = intents.intended_points(transaction, one.document_id) - frozenset(new.ids)
    kept = [(id_, chunk) for id_, chunk in zip(new.ids, new.chunks, strict=True) if id_ in change.kept]
    made = payloads((chunk for _, chunk in kept), new.origin, one.version, now_ns)
    overwrites = [
        PayloadOverwrite(id=id_, version=one.version, payload=payload)
        for (id_, _), payload in zip(kept, made, strict=True)
    ]
    deletions = [Deletion(id=id_, below_version=one.version) for id_ in sorted(change.dropped | left_over)]
    intents.post(transaction, one.document_id, one.version, [*overwrites, *deletions])
    documents.set_points(transaction, one.document_id, add=change.lacking, remove=change.dropped)
    served = ServedVersion(
        version=one.version,
        made=new.made,
        recipe=new.origin.recipe.digest,
        title=new.origin.document.title,
        chunk_count=len(new.chunks),
    )
    documents.serve(transaction, one.document_id, served, now_ns)
    intents.close_intent(transaction, one.document_id)
    elsewhere = [
        other
        for other in documents.of_source(transaction, new.source.id)
        if _is_elsewhere(transaction, other, new.generation)
    ]
    for other in elsewhere:
        unserve(transaction, other)
    outcomes.done(transaction, new.source)
    return [one.document_id, *(other.id for other in elsewhere)]


def _is_elsewhere(transaction: Transaction, document: documents.DocumentRow, target: GenerationRow) -> bool:
    # The root was given another collection: its documents leave the old one once the new one serves them.
    if document.version == 0 or document.generation_id == target.id:
        return False
    found = generations.by_id(transaction, document.generation_id).generation
    return found.collection != target.generation.collection


def _apply(store: Store, generation: Generation, rows: Sequence[OutboxRow]) -> tuple[int, int]:
    overwrites = [row.write for row in rows if isinstance(row.write, PayloadOverwrite)]
    deletions = [row.write for row in rows if isinstance(row.write, Deletion)]
    if overwrites:
        failpoint("publish.overwrite.before")
        store.overwrite_payloads(generation, overwrites)
        failpoint("publish.overwrite.after")
    if deletions:
        failpoint("publish.delete.before")
        store.delete(generation, deletions)
        failpoint("publish.delete.after")
    store.flush(generation)
    failpoint("publish.outbox.flushed")
    return len(overwrites), len(deletions)


def with_vectors(new: NewVersion, vectors: "Mapping[PointId, Matrix]") -> NewVersion:
    """The version with the vectors of the ids that the served one lacks."""
    return replace(new, vectors=vectors)
