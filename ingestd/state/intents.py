"""Versions that are being written, and what remains to be done once they are served."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ingestd.model.identity import PointId
from ingestd.model.point import Deletion, PayloadOverwrite
from ingestd.state.documents import used_version
from ingestd.state.engine import Transaction, driver
from ingestd.state.point_ids import point_bytes, point_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A version that was going to be served."""

    document_id: int
    generation_id: int
    version: int
    points: tuple[PointId, ...]
    """Only those that the served version lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """One write that a served version still owes the store."""

    id: int
    document_id: int
    generation_id: int
    write: PayloadOverwrite | Deletion


def open_intent(transaction: Transaction, document_id: int, version: int, lacking: Collection[PointId]) -> None:
    """State, before the first write, which points a version is going to add.

    The points of an earlier intent that was never served stay on record: the store may hold them.
    """
    used_version(transaction, document_id, version)
    driver(transaction).execute(
        "INSERT INTO intent(document_id, version) VALUES(:id, :version) "
        "ON CONFLICT(document_id) DO UPDATE SET version = :version",
        {"id": document_id, "version": version},
    )
    if lacking:
        driver(transaction).executemany(
            "INSERT INTO intent_point(document_id, id) VALUES(:document, :id) ON CONFLICT DO NOTHING",
            [{"document": document_id, "id": point_bytes(id_)} for id_ in lacking],
        )


def intended_points(transaction: Transaction, document_id: int) -> frozenset[PointId]:
    """Points that the document's open intents may have written."""
    rows = driver(transaction).execute("SELECT id FROM intent_point WHERE document_id = :id", {"id": document_id})
    return frozenset(point_text(id_) for (id_,) in rows)


def close_intent(transaction: Transaction, document_id: int) -> None:
    """The version is served, or its points are gone."""
    driver(transaction).execute("DELETE FROM intent WHERE document_id = :id", {"id": document_id})


def open_intents(transaction: Transaction, *, idle_only: bool = False) -> tuple[Intent, ...]:
    """Every intent that is open, with its points; ``idle_only`` leaves out those whose source will be tried again."""
    rows = transaction.exec_driver_sql(
        "SELECT intent.document_id, generation_id, intent.version FROM intent "
        "JOIN document ON document.id = intent.document_id JOIN source ON source.id = source_id "
        "WHERE NOT :idle OR source.state <> 'pending' ORDER BY 1",
        {"idle": idle_only},
    ).all()
    return tuple(
        Intent(
            document_id=document_id,
            generation_id=generation_id,
            version=version,
            points=tuple(sorted(intended_points(transaction, document_id))),
        )
        for document_id, generation_id, version in rows
    )


def post(
    transaction: Transaction, document_id: int, version: int, writes: Sequence[PayloadOverwrite | Deletion]
) -> None:
    """Owe the store these writes, in this order."""
    if writes:
        driver(transaction).executemany(
            "INSERT INTO outbox(document_id, version, point, payload) VALUES(:document, :version, :point, :payload)",
            [
                {
                    "document": document_id,
                    "version": version,
                    "point": point_bytes(write.id),
                    "payload": _payload_text(write),
                }
                for write in writes
            ],
        )


def outbox(
    transaction: Transaction,
    *,
    generation_id: int | None = None,
    document_ids: Collection[int] | None = None,
    limit: int = 2000,
) -> tuple[OutboxRow, ...]:
    """Oldest writes that are owed: of some documents, of one generation, or of all."""
    select = (
        "SELECT outbox.id, document_id, generation_id, outbox.version, point, payload FROM outbox "
        "JOIN document ON document.id = outbox.document_id"
    )
    if document_ids is None:
        rows = transaction.exec_driver_sql(
            f"{select} WHERE (:generation IS NULL OR generation_id = :generation) ORDER BY outbox.id LIMIT :limit",
            {"generation": generation_id, "limit": limit},
        ).all()
    else:
        among = ", ".join(str(document_id) for document_id in document_ids)
        rows = transaction.exec_driver_sql(
            f"{select} WHERE document_id IN ({among}) ORDER BY outbox.id LIMIT :limit", {"limit": limit}
        ).all()
    return tuple(_row(row) for row in rows)


def owed_points(transaction: Transaction) -> dict[int, frozenset[PointId]]:
    """Points with a write in the outbox, by the id of their document's row."""
    owed: dict[int, set[PointId]] = defaultdict(set)
    for document_id, point in transaction.exec_driver_sql("SELECT document_id, point FROM outbox"):
        owed[document_id].add(point_text(point))
    return {document_id: frozenset(points) for document_id, points in owed.items()}


def is_outbox_empty(transaction: Transaction) -> bool:
    """Whether the store is owed nothing."""
    return transaction.exec_driver_sql("SELECT 1 FROM outbox LIMIT 1").first() is None


def empty_outbox(transaction: Transaction, ids: Collection[int]) -> None:
    """The writes are done and flushed."""
    if ids:
        transaction.exec_driver_sql("DELETE FROM outbox WHERE id = :id", [{"id": id_} for id_ in ids])


def _payload_text(write: PayloadOverwrite | Deletion) -> str | None:
    match write:
        case PayloadOverwrite(payload=payload):
            return json.dumps(dict(payload), ensure_ascii=False, separators=(",", ":"))
        case Deletion():
            return None


def _row(row: Any) -> OutboxRow:
    id_, document_id, generation_id, version, point, payload = row
    write: PayloadOverwrite | Deletion = (
        Deletion(id=point_text(point), below_version=version)
        if payload is None
        else PayloadOverwrite(id=point_text(point), version=version, payload=json.loads(payload))
    )
    return OutboxRow(id=id_, document_id=document_id, generation_id=generation_id, write=write)
