"""What the ledger says, for people and dashboards: JSON values under the contract's names."""

import json
from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ingestd.model.paths import path_fields
from ingestd.state import facts, generations, quarantine
from ingestd.state.engine import Transaction

_NANOSECONDS = 1_000_000_000


def roots(transaction: Transaction) -> list[dict[str, Any]]:
    """State of each root, with its counts."""
    rows = transaction.exec_driver_sql(
        "SELECT root.id, root.name, root.path, root.collection, root.state, root.reason, root.last_scan_ns, "
        "(SELECT count(*) FROM document JOIN generation ON generation.id = generation_id "
        " JOIN source ON source.id = source_id WHERE root_id = root.id AND version > 0 "
        " AND generation.state = 'live') AS documents, "
        "(SELECT coalesce(sum(chunk_count), 0) FROM document JOIN generation ON generation.id = generation_id "
        " JOIN source ON source.id = source_id WHERE root_id = root.id AND version > 0 "
        " AND generation.state = 'live') AS chunks FROM root "
        "WHERE root.state <> 'detached' OR EXISTS (SELECT 1 FROM source WHERE root_id = root.id) ORDER BY root.name"
    ).all()
    return [
        {
            "name": row.name,
            **path_fields(bytes(row.path)),
            "collection": row.collection,
            "documents": row.documents,
            "chunks": row.chunks,
            **_source_counts(transaction, row.id, vanished=row.state == "vanished"),
            "last_scan": _time(row.last_scan_ns),
            "state": row.state,
            "reason": row.reason,
            "notes": _notes(transaction, row.name),
            "ignored": json.loads(facts.read(transaction, facts.ignored_key(row.name)) or "{}"),
            "stale": json.loads(facts.read(transaction, facts.stale_key(row.name)) or '["", 0]')[1],
        }
        for row in rows
    ]


def queues(transaction: Transaction, now_ns: int) -> dict[str, int]:
    """How much waits, and for what."""
    row = transaction.exec_driver_sql(
        "SELECT coalesce(sum(state = 'pending' AND not_before_ns <= :now), 0) AS due, "
        "coalesce(sum(state = 'pending' AND not_before_ns > :now), 0) AS deferred, "
        "coalesce(sum(state = 'gone'), 0) AS removals FROM source "
        "WHERE state <> 'done'",
        {"now": now_ns},
    ).one()
    outbox = transaction.exec_driver_sql("SELECT count(*) FROM outbox").scalar_one()
    return {
        "due": int(row.due),
        "deferred": int(row.deferred),
        "removals": int(row.removals),
        "held": held_count(transaction),
        "outbox": int(outbox),
    }


def all_generations(transaction: Transaction) -> list[dict[str, Any]]:
    """Each generation with the points that the ledger expects in it."""
    return [
        {
            "collection": row.generation.collection,
            "generation": row.generation.number,
            "state": "needs-reindex" if row.state == "live" and _pause(transaction, row) else row.state,
            "reason": _pause(transaction, row) or None,
            "recipe": row.generation.embed_digest,
            "embedder": json.loads(row.embedder).get("name"),
            "dimension": row.generation.dimension,
            "points": int(
                transaction.exec_driver_sql(
                    "SELECT count(*) FROM point JOIN document ON document.id = document_id WHERE generation_id = :id",
                    {"id": row.id},
                ).scalar_one()
            ),
        }
        for row in generations.all_generations(transaction)
    ]


def quarantined(transaction: Transaction) -> list[dict[str, Any]]:
    """Everything in quarantine, with what is still served of it."""
    served = {row.source_id for row in transaction.exec_driver_sql("SELECT source_id FROM document WHERE version > 0")}
    return [
        {
            "root": row.root,
            **path_fields(row.path),
            "stage": row.failure.stage,
            "reason": row.failure.reason,
            "error": row.failure.error,
            "since": _time(row.since_ns),
            "attempts": row.attempts,
            "stale_served": row.source_id in served,
        }
        for row in quarantine.all_quarantined(transaction)
    ]


def deferred(transaction: Transaction, now_ns: int) -> list[dict[str, Any]]:
    """Sources that wait for another attempt."""
    rows = transaction.exec_driver_sql(
        "SELECT root.name AS root, directory, source.name AS name, source.reason, not_before_ns FROM source "
        "JOIN root ON root.id = root_id WHERE source.state = 'pending' AND source.state <> 'done' "
        "AND not_before_ns > :now ORDER BY root.name, directory, source.name",
        {"now": now_ns},
    )
    return [
        {
            "root": row.root,
            **path_fields(joined(row.directory, row.name)),
            "reason": row.reason or "it was still changing",
            "retry_at": _time(row.not_before_ns),
        }
        for row in rows
    ]


def held(transaction: Transaction, *, limit: int = 1000) -> list[dict[str, Any]]:
    """Removals that wait for a confirmation."""
    rows = transaction.exec_driver_sql(
        "SELECT root.name AS root, directory, source.name AS name, source.reason FROM source "
        "JOIN root ON root.id = root_id WHERE source.state = 'held' AND source.state <> 'done' "
        "ORDER BY root.name, directory, source.name LIMIT :limit",
        {"limit": limit},
    )
    return [{"root": row.root, **path_fields(joined(row.directory, row.name)), "reason": row.reason} for row in rows]


def held_count(transaction: Transaction) -> int:
    """Removals held, the documents of roots that vanished among them."""
    return int(
        transaction.exec_driver_sql(
            "SELECT (SELECT count(*) FROM source WHERE state = 'held' AND state <> 'done') + "
            "(SELECT count(*) FROM root JOIN source ON root_id = root.id "
            "WHERE root.state = 'vanished' AND source.state NOT IN ('gone', 'held'))"
        ).scalar_one()
    )


def joined(directory: bytes, name: bytes) -> bytes:
    """Path of a source below its root."""
    return bytes(directory) + b"/" + bytes(name) if directory else bytes(name)


def _source_counts(transaction: Transaction, root_id: int, *, vanished: bool) -> Mapping[str, int]:
    counts = {
        row.state: int(row.number)
        for row in transaction.exec_driver_sql(
            "SELECT state, count(*) AS number FROM source WHERE root_id = :id GROUP BY state", {"id": root_id}
        )
    }
    return {
        "pending": counts.get("pending", 0),
        "quarantined": counts.get("quarantined", 0),
        # Of a root that vanished all is held.
        "held": sum(counts.values()) if vanished else counts.get("held", 0),
        "forgotten": counts.get("forgotten", 0),
    }


def _pause(transaction: Transaction, row: generations.GenerationRow) -> str:
    return generations.paused(transaction, row.generation.collection)


def _notes(transaction: Transaction, root: str) -> list[dict[str, Any]]:
    directories = json.loads(facts.read(transaction, f"notes:{root}") or "{}")
    return [
        {**path_fields(b64decode(path)), "reason": reason} for found in directories.values() for path, reason in found
    ]


def _time(time_ns: int | None) -> str | None:
    if time_ns is None:
        return None
    return datetime.fromtimestamp(time_ns // _NANOSECONDS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
