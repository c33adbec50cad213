"""Ten wrong orders of the swap protocol, each made by exchanging functions of the code under test."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from types import ModuleType
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from ingestd.failpoints import failpoint
from ingestd.model.identity import PointId
from ingestd.model.point import Deletion, Generation, PayloadOverwrite
from ingestd.ports.store import Store
from ingestd.publish import points, recovery, swap
from ingestd.publish.payload import payload
from ingestd.state import documents, generations, intents, outcomes
from ingestd.state.engine import Ledger, Transaction
from ingestd.state.intents import OutboxRow
from ingestd.state.sources import SourceRow

_EVER = 2**62


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong order."""

    name: str
    applied: Callable[[], Any]
    """Context in which the code under test has it."""
    checks: frozenset[str]
    """Names of the checks that may catch it first."""


@contextmanager
def exchanged(*changes: tuple[ModuleType, str, Any]) -> Iterator[None]:
    """Exchange attributes of modules for a while."""
    with ExitStack() as undone:
        for module, name, value in changes:
            undone.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        yield


def delete_first() -> Any:
    """Points that the new version drops are deleted before its own are added."""
    add = swap._add

    def _add(store: Store, opened: Sequence[swap._Opened], now_ns: int) -> None:
        for one in opened:
            deletions = [Deletion(id=id_, below_version=one.version) for id_ in sorted(one.swap.dropped)]
            if deletions:
                failpoint("mutant.delete.before")
                store.delete(one.new.generation.generation, deletions)
                failpoint("mutant.delete.after")
        add(store, opened, now_ns)

    return exchanged((swap, "_add", _add))


def serve_before_upsert() -> Any:
    """A version is served before its points are in the store."""

    def publish(ledger: Ledger, store: Store, group: Sequence[swap.NewVersion], now_ns: int) -> swap.Published:
        swap.drain(ledger, store, document_ids=swap._document_ids(ledger, group))
        opened = swap._intend(ledger, group)
        owing = swap._serve(ledger, opened, now_ns)
        swap._add(store, opened, now_ns)
        overwritten, deleted = swap.drain(ledger, store, document_ids=owing)
        return swap.Published(
            written=sum(len(one.swap.lacking) for one in opened), overwritten=overwritten, deleted=deleted
        )

    return exchanged((swap, "publish", publish))


def random_ids() -> Any:
    """Each attempt gives its points new ids."""

    def point_ids(chunks: tuple[Any, ...], doc_id: str, embed_digest: str) -> tuple[PointId, ...]:
        return tuple(PointId(str(uuid4())) for _ in chunks)

    return exchanged((points, "point_ids", point_ids))


def row_dropped_before_delete() -> Any:
    """The ledger forgets a document before the store has deleted its points."""

    def retire(ledger: Ledger, store: Store, gone: Sequence[SourceRow]) -> int:
        owed: list[tuple[Generation, list[Deletion]]] = []
        with ledger.write("retire") as transaction:
            for source in gone:
                for document in documents.of_source(transaction, source.id):
                    generation = generations.by_id(transaction, document.generation_id).generation
                    held = documents.points(transaction, document.id)
                    owed.append((generation, [Deletion(id=id_, below_version=_EVER) for id_ in sorted(held)]))
                    intents.close_intent(transaction, document.id)
                    documents.unserve(transaction, document.id)
                    transaction.execute(text("DELETE FROM outbox WHERE document_id = :id"), {"id": document.id})
                    documents.drop(transaction, document.id)
                outcomes.drop(transaction, source.id)
        for generation, deletions in owed:
            failpoint("mutant.delete.before")
            store.delete(generation, deletions)
            store.flush(generation)
        return sum(len(deletions) for _, deletions in owed)

    return exchanged((swap, "retire", retire))


def no_intent_row() -> Any:
    """What is about to be written is not stated beforehand."""

    def open_intent(transaction: Transaction, document_id: int, version: int, lacking: Collection[PointId]) -> None:
        documents.used_version(transaction, document_id, version)

    return exchanged((intents, "open_intent", open_intent))


def delete_by_bare_id() -> Any:
    """A deletion takes the point whatever its version."""
    apply = swap._apply

    def _apply(store: Store, generation: Generation, rows: Sequence[OutboxRow]) -> tuple[int, int]:
        bare = [
            replace(row, write=replace(row.write, below_version=_EVER)) if isinstance(row.write, Deletion) else row
            for row in rows
        ]
        return apply(store, generation, bare)

    return exchanged((swap, "_apply", _apply))


def kept_payload_before_commit() -> Any:
    """Points that stay are overwritten before the new version is served."""
    add = swap._add

    def _add(store: Store, opened: Sequence[swap._Opened], now_ns: int) -> None:
        add(store, opened, now_ns)
        for one in opened:
            new = one.new
            kept = [
                PayloadOverwrite(id=id_, version=one.version, payload=payload(chunk, new.origin, one.version, now_ns))
                for id_, chunk in zip(new.ids, new.chunks, strict=True)
                if id_ in one.swap.kept
            ]
            store.overwrite_payloads(new.generation.generation, kept)
            store.flush(new.generation.generation)
            failpoint("mutant.overwritten")

    return exchanged((swap, "_add", _add))


def outbox_not_drained() -> Any:
    """What a version still owes is neither done at the next start nor before the next version."""
    drain = swap.drain
    served: list[bool] = []
    serve = swap._serve

    def _serve(*arguments: Any) -> list[int]:
        served.append(True)
        return serve(*arguments)

    def only_after_serving(ledger: Ledger, store: Store, **more: Any) -> tuple[int, int]:
        return drain(ledger, store, **more) if served and served.pop() else (0, 0)

    def nothing(ledger: Ledger, store: Store, **more: Any) -> tuple[int, int]:
        return 0, 0

    return exchanged((swap, "drain", only_after_serving), (recovery, "drain", nothing), (swap, "_serve", _serve))


def outbox_emptied_before_flush() -> Any:
    """The ledger forgets what is owed while the store may still lose it."""

    def drain(ledger: Ledger, store: Store, **more: Any) -> tuple[int, int]:
        counts = 0, 0
        while True:
            with ledger.read() as transaction:
                rows = intents.outbox(transaction, **more)
                targets: Mapping[int, Generation] = {
                    row.generation_id: generations.by_id(transaction, row.generation_id).generation for row in rows
                }
            if not rows:
                return counts
            for target, group in groupby(sorted(rows, key=_by_generation), key=lambda row: row.generation_id):
                _apply_without_flush(store, targets[target], tuple(group))
            with ledger.write("outbox") as transaction:
                intents.empty_outbox(transaction, [row.id for row in rows])
            for generation in targets.values():
                store.flush(generation)

    return exchanged((swap, "drain", drain), (recovery, "drain", drain))


def version_restarted_after_loss() -> Any:
    """A document found in the store is made again from version 1."""
    adopt = documents.adopt

    def _adopt(transaction: Transaction, document_id: int, found: Mapping[PointId, int]) -> None:
        adopt(transaction, document_id, found)
        transaction.execute(
            text("UPDATE document SET version = 1, last_version = 0 WHERE id = :id"), {"id": document_id}
        )

    return exchanged((documents, "adopt", _adopt))


def _by_generation(row: OutboxRow) -> tuple[int, int]:
    return row.generation_id, row.id


def _apply_without_flush(store: Store, generation: Generation, rows: Sequence[OutboxRow]) -> None:
    overwrites = [row.write for row in rows if isinstance(row.write, PayloadOverwrite)]
    deletions = [row.write for row in rows if isinstance(row.write, Deletion)]
    if overwrites:
        store.overwrite_payloads(generation, overwrites)
    if deletions:
        store.delete(generation, deletions)


MUTANTS = (
    Mutant("delete first", delete_first, frozenset({"reader", "search"})),
    Mutant("serve before upsert", serve_before_upsert, frozenset({"reader", "search"})),
    Mutant("random ids", random_ids, frozenset({"lost"})),
    Mutant("row dropped before delete", row_dropped_before_delete, frozenset({"orphans", "unexplained"})),
    Mutant("no intent row", no_intent_row, frozenset({"orphans", "search", "unexplained"})),
    Mutant("delete by bare id", delete_by_bare_id, frozenset({"lost"})),
    Mutant("kept payload before the commit", kept_payload_before_commit, frozenset({"payload", "unexplained"})),
    Mutant("outbox not drained", outbox_not_drained, frozenset({"payload", "orphans", "quiet"})),
    Mutant(
        "outbox emptied before the flush", outbox_emptied_before_flush, frozenset({"search", "payload", "unexplained"})
    ),
    Mutant("version restarted after the loss of the ledger", version_restarted_after_loss, frozenset({"payload"})),
)
