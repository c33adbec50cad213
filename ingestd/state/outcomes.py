"""States that sources are worked on, and what came of it."""

from collections.abc import Collection, Sequence

from ingestd.state.engine import Transaction, driver, each
from ingestd.state.sources import UNFINISHED, SourceRow, in_state


def claim(transaction: Transaction, ids: Sequence[int]) -> None:
    """Count the attempt before the risky work: whatever happens then, it was counted."""
    each(
        transaction,
        "UPDATE source SET attempts = attempts + 1, crashes = crashes + 1 WHERE id = :id",
        [{"id": id_} for id_ in ids],
    )


def unclaim(transaction: Transaction, ids: Sequence[int]) -> None:
    """Take back claims that were not worked on."""
    each(
        transaction,
        "UPDATE source SET attempts = max(attempts - 1, 0), crashes = max(crashes - 1, 0) WHERE id = :id",
        [{"id": id_} for id_ in ids],
    )


def hashed(transaction: Transaction, source: SourceRow) -> None:
    """State the fingerprint of the bytes behind the source's signature, when the value carries one."""
    if source.fingerprint is not None:
        driver(transaction).execute(
            "UPDATE source SET fingerprint = :fingerprint, mime = :mime WHERE id = :id AND seq = :seq",
            {
                "id": source.id,
                "seq": source.seq,
                "fingerprint": bytes.fromhex(source.fingerprint),
                "mime": source.mime,
            },
        )


def done(transaction: Transaction, source: SourceRow) -> None:
    """The source is served as it was seen; one that changed meanwhile stays pending."""
    fingerprint = None if source.fingerprint is None else bytes.fromhex(source.fingerprint)
    settled = driver(transaction).execute(
        "UPDATE source SET state = 'done', reason = NULL, attempts = 0, crashes = 0, not_before_ns = 0, "
        "fingerprint = coalesce(:fingerprint, fingerprint), "
        "mime = CASE WHEN :fingerprint IS NULL THEN mime ELSE :mime END "
        "WHERE id = :id AND seq = :seq AND state = 'pending'",
        {"id": source.id, "seq": source.seq, "fingerprint": fingerprint, "mime": source.mime},
    )
    if settled.rowcount:
        return
    hashed(transaction, source)
    driver(transaction).execute(
        "UPDATE source SET crashes = 0 WHERE id = :id AND seq <> :seq", {"id": source.id, "seq": source.seq}
    )


def defer(transaction: Transaction, source: SourceRow, not_before_ns: int, reason: str | None) -> None:
    """Try again later; one that changed meanwhile is tried at once."""
    transaction.exec_driver_sql(
        "UPDATE source SET not_before_ns = :at, reason = :reason, crashes = 0 "
        "WHERE id = :id AND seq = :seq AND state = 'pending'",
        {"id": source.id, "seq": source.seq, "at": not_before_ns, "reason": reason},
    )


def make_due(transaction: Transaction) -> None:
    """End every back-off: a person asked for a pass, perhaps because what was in the way is mended."""
    transaction.exec_driver_sql(
        f"UPDATE source SET not_before_ns = 0 WHERE state = 'pending' AND {UNFINISHED} AND not_before_ns > 0"
    )


def mark_pending(transaction: Transaction, ids: Collection[int]) -> None:
    """Have sources worked on again, as they are."""
    each(
        transaction,
        "UPDATE source SET state = 'pending', seq = seq + 1, attempts = 0, crashes = 0, not_before_ns = 0, "
        "reason = NULL WHERE id = :id AND state IN ('done', 'quarantined', 'pending')",
        [{"id": id_} for id_ in ids],
    )
    each(transaction, "DELETE FROM quarantine WHERE source_id = :id", [{"id": id_} for id_ in ids])


def forget(transaction: Transaction, source_id: int) -> None:
    """Keep the source out of the index until its file changes."""
    transaction.exec_driver_sql(
        "UPDATE source SET state = 'forgotten', seq = seq + 1, reason = NULL WHERE id = :id", {"id": source_id}
    )
    transaction.exec_driver_sql("DELETE FROM quarantine WHERE source_id = :id", {"id": source_id})


def drop(transaction: Transaction, source_id: int) -> None:
    """Drop the row of a source that is gone and has no document left."""
    transaction.exec_driver_sql(
        "DELETE FROM source WHERE id = :id AND state = 'gone' AND NOT EXISTS "
        "(SELECT 1 FROM document WHERE source_id = :id)",
        {"id": source_id},
    )


def redo_root(transaction: Transaction, root_id: int) -> None:
    """Have everything of the root worked on again, as it is."""
    mark_pending(transaction, [source.id for source in in_state(transaction, "done", "quarantined", root_id=root_id)])
