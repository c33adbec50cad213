"""Sources, as last seen, with the work that is due on them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import RowMapping

from ingestd.model.identity import Fingerprint
from ingestd.model.source import Signature
from ingestd.state.engine import Transaction, driver
from ingestd.state.roots import signed, unsigned

_COLUMNS = (
    "id, root_id, directory, name, size, mtime_ns, ctime_ns, inode, looked_ns, fingerprint, mime, state, reason, "
    "confirmed, successor_id, seq, attempts, crashes"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source in the ledger."""

    id: int
    root_id: int
    path: bytes
    """Relative to its root."""
    signature: Signature | None
    looked_ns: int
    """Wall clock when this signature was first seen."""
    fingerprint: Fingerprint | None
    """Of the bytes behind ``signature``; ``None`` until they were hashed."""
    mime: str | None
    state: str
    reason: str | None
    confirmed: bool
    successor_id: int | None
    """Where the file was moved to, when this path is gone."""
    seq: int
    """Raised by every observed change: an outcome of an older one does not settle the source."""
    attempts: int
    crashes: int
    """Claims that never reported an outcome."""


def seen(
    transaction: Transaction, root_id: int, directory: bytes, signatures: Mapping[bytes, Signature], now_ns: int
) -> None:
    """Files that are new or look changed: they are pending, and no longer in quarantine or forgotten."""
    transaction.exec_driver_sql(
        "INSERT INTO source(root_id, directory, name, size, mtime_ns, ctime_ns, inode, looked_ns, state) "
        "VALUES(:root, :directory, :name, :size, :mtime, :ctime, :inode, :now, 'pending') "
        "ON CONFLICT(root_id, directory, name) DO UPDATE SET "
        # A file that is back as it was (unmounted and mounted, moved away and back) need not be hashed again.
        "fingerprint = CASE WHEN size IS :size AND mtime_ns IS :mtime AND ctime_ns IS :ctime AND inode IS :inode "
        "THEN fingerprint END, "
        "size = :size, mtime_ns = :mtime, ctime_ns = :ctime, inode = :inode, looked_ns = :now, state = 'pending', "
        "reason = NULL, confirmed = 0, successor_id = NULL, seq = seq + 1, attempts = 0, crashes = 0, "
        "not_before_ns = 0",
        [
            {
                "root": root_id,
                "directory": directory,
                "name": name,
                "size": signature.size,
                "mtime": signature.mtime_ns,
                "ctime": signature.ctime_ns,
                "inode": signed(signature.inode),
                "now": now_ns,
            }
            for name, signature in signatures.items()
        ],
    )
    transaction.exec_driver_sql(
        "DELETE FROM quarantine WHERE source_id = "
        "(SELECT id FROM source WHERE root_id = :root AND directory = :directory AND name = :name)",
        [{"root": root_id, "directory": directory, "name": name} for name in signatures],
    )


def lost(transaction: Transaction, root_id: int, directory: bytes, names: Collection[bytes], now_ns: int) -> None:
    """Files that a scan no longer found: their removal is due, unless it is held."""
    _leave(transaction, root_id, directory, names, "gone", None, now_ns)


def excluded(transaction: Transaction, root_id: int, directory: bytes, names: Collection[bytes], now_ns: int) -> None:
    """Files that the rules no longer want: their removal is held until someone confirms it."""
    _leave(transaction, root_id, directory, names, "held", "excluded", now_ns)


def hold(transaction: Transaction, ids: Collection[int], reason: str) -> None:
    """Removals that wait for a confirmation."""
    _each(
        transaction,
        "UPDATE source SET state = 'held', reason = :reason WHERE id = :id",
        [{"id": id_, "reason": reason} for id_ in ids],
    )


def hold_root(transaction: Transaction, root_id: int, reason: str) -> None:
    """Hold the removal of everything below a root that left the configuration, but for what was confirmed.

    What was forgotten has nothing left to remove, and what was held before stays held for its own reason.
    """
    transaction.exec_driver_sql(
        "UPDATE source SET state = 'held', reason = :reason "
        "WHERE root_id = :root AND state NOT IN ('held', 'forgotten') AND NOT (state = 'gone' AND confirmed)",
        {"root": root_id, "reason": reason},
    )


def release_root(transaction: Transaction, root_id: int, reason: str) -> None:
    """The root is back: what :func:`hold_root` held for the reason is looked at again."""
    transaction.exec_driver_sql(
        "UPDATE source SET state = 'pending', reason = NULL, seq = seq + 1, attempts = 0, crashes = 0, "
        "not_before_ns = 0 WHERE root_id = :root AND state = 'held' AND reason = :reason",
        {"root": root_id, "reason": reason},
    )


def redo_root(transaction: Transaction, root_id: int) -> None:
    """Have everything of the root worked on again, as it is."""
    mark_pending(transaction, [source.id for source in in_state(transaction, "done", "quarantined", root_id=root_id)])


def all_gone(transaction: Transaction, root_id: int, now_ns: int) -> None:
    """Nothing of the root is there, as a person confirmed."""
    transaction.exec_driver_sql(
        "UPDATE source SET state = 'held', looked_ns = :now, seq = seq + 1, not_before_ns = 0 "
        "WHERE root_id = :root AND state <> 'gone'",
        {"root": root_id, "now": now_ns},
    )


def confirm(transaction: Transaction, root_id: int) -> int:
    """Let the held removals of a root happen; returns how many."""
    return transaction.exec_driver_sql(
        "UPDATE source SET state = 'gone', confirmed = 1 WHERE root_id = :root AND state = 'held'",
        {"root": root_id},
    ).rowcount


def moved(transaction: Transaction, old_id: int, new_id: int) -> None:
    """A file found again under a new path: its bytes are known, and the old path waits for the new one.

    So does any path that waited for the old one: the file was moved twice before it was worked on.
    """
    transaction.exec_driver_sql(
        "UPDATE source SET successor_id = :new WHERE id = :old OR (successor_id = :old AND state = 'gone')",
        {"old": old_id, "new": new_id},
    )
    transaction.exec_driver_sql(
        "UPDATE source SET (fingerprint, mime) = (SELECT fingerprint, mime FROM source WHERE id = :old) "
        "WHERE id = :new",
        {"old": old_id, "new": new_id},
    )


def unhashed(transaction: Transaction, source_id: int) -> None:
    """The file has to be read again: under its name the same bytes may mean something else."""
    transaction.exec_driver_sql("UPDATE source SET fingerprint = NULL, mime = NULL WHERE id = :id", {"id": source_id})


def due(
    transaction: Transaction,
    now_ns: int,
    limit: int,
    root_ids: Collection[int],
    *,
    after: tuple[bool, int] = (False, 0),
) -> tuple[SourceRow, ...]:
    """Pending sources of these roots whose time has come; those whose last claim ended in a crash come last.

    Parameters
    ----------
    after
        Whether the last claim of a source ended in a crash, and its id: only those behind it in this order.
    """
    among = ", ".join(str(root_id) for root_id in root_ids)
    rows = transaction.exec_driver_sql(
        f"SELECT {_COLUMNS} FROM source WHERE state = 'pending' AND not_before_ns <= :now "
        f"AND root_id IN ({among}) AND (crashes > 0, id) > (:crashed, :after) ORDER BY crashes > 0, id LIMIT :limit",
        {"now": now_ns, "limit": limit, "crashed": after[0], "after": after[1]},
    )
    return tuple(source_of(row) for row in rows.mappings())


def next_settling(transaction: Transaction, now_ns: int, root_ids: Collection[int]) -> int | None:
    """Wall clock when the next source of these roots is due that was put off only for its file to hold still."""
    among = ", ".join(str(root_id) for root_id in root_ids)
    due_ns = transaction.exec_driver_sql(
        "SELECT min(not_before_ns) FROM source WHERE state = 'pending' AND not_before_ns > :now AND reason IS NULL "
        f"AND root_id IN ({among})",
        {"now": now_ns},
    ).scalar()
    return None if due_ns is None else int(due_ns)


def removals(transaction: Transaction) -> tuple[SourceRow, ...]:
    """Sources that are gone and whose file was not found under a path that is still pending."""
    rows = transaction.exec_driver_sql(
        f"SELECT {_COLUMNS} FROM source AS old WHERE state = 'gone' AND NOT EXISTS "
        "(SELECT 1 FROM source AS new WHERE new.id = old.successor_id AND new.state = 'pending') ORDER BY id"
    )
    return tuple(source_of(row) for row in rows.mappings())


def claim(transaction: Transaction, ids: Sequence[int]) -> None:
    """Count the attempt before the risky work: whatever happens then, it was counted."""
    _each(
        transaction,
        "UPDATE source SET attempts = attempts + 1, crashes = crashes + 1 WHERE id = :id",
        [{"id": id_} for id_ in ids],
    )


def unclaim(transaction: Transaction, ids: Sequence[int]) -> None:
    """Take back claims that were not worked on."""
    _each(
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
    hashed(transaction, source)
    driver(transaction).execute(
        "UPDATE source SET state = 'done', reason = NULL, attempts = 0, crashes = 0, not_before_ns = 0 "
        "WHERE id = :id AND seq = :seq AND state = 'pending'",
        {"id": source.id, "seq": source.seq},
    )
    driver(transaction).execute(
        "UPDATE source SET crashes = 0 WHERE id = :id AND seq <> :seq", {"id": source.id, "seq": source.seq}
    )


def look_again(transaction: Transaction, source: SourceRow, signature: Signature, now_ns: int) -> None:
    """The file changed between two looks: it has to be quiet first."""
    transaction.exec_driver_sql(
        "UPDATE source SET size = :size, mtime_ns = :mtime, ctime_ns = :ctime, inode = :inode, looked_ns = :now, "
        "fingerprint = NULL, seq = seq + 1, attempts = 0, crashes = 0 WHERE id = :id",
        {
            "id": source.id,
            "size": signature.size,
            "mtime": signature.mtime_ns,
            "ctime": signature.ctime_ns,
            "inode": signed(signature.inode),
            "now": now_ns,
        },
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
    transaction.exec_driver_sql("UPDATE source SET not_before_ns = 0 WHERE state = 'pending' AND not_before_ns > 0")


def mark_pending(transaction: Transaction, ids: Collection[int]) -> None:
    """Have sources worked on again, as they are."""
    _each(
        transaction,
        "UPDATE source SET state = 'pending', seq = seq + 1, attempts = 0, crashes = 0, not_before_ns = 0, "
        "reason = NULL WHERE id = :id AND state IN ('done', 'quarantined', 'pending')",
        [{"id": id_} for id_ in ids],
    )
    _each(transaction, "DELETE FROM quarantine WHERE source_id = :id", [{"id": id_} for id_ in ids])


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


def adopt(transaction: Transaction, root_id: int, path: bytes, now_ns: int) -> int:
    """Row of a source that only the store knew; the next scan finds its file, or that it is gone."""
    directory, _, name = path.rpartition(b"/")
    key = {"root": root_id, "directory": directory, "name": name}
    transaction.exec_driver_sql(
        "INSERT INTO source(root_id, directory, name, looked_ns, state) "
        "VALUES(:root, :directory, :name, :now, 'done') ON CONFLICT DO NOTHING",
        {**key, "now": now_ns},
    )
    return int(
        transaction.exec_driver_sql(
            "SELECT id FROM source WHERE root_id = :root AND directory = :directory AND name = :name", key
        ).scalar_one()
    )


def by_path(transaction: Transaction, root_id: int, path: bytes) -> SourceRow | None:
    """Source at the path."""
    directory, _, name = path.rpartition(b"/")
    row = (
        transaction.exec_driver_sql(
            f"SELECT {_COLUMNS} FROM source WHERE root_id = :root AND directory = :directory AND name = :name",
            {"root": root_id, "directory": directory, "name": name},
        )
        .mappings()
        .one_or_none()
    )
    return None if row is None else source_of(row)


def by_ids(transaction: Transaction, ids: Sequence[int]) -> tuple[SourceRow, ...]:
    """Sources of those ids that exist."""
    among = ", ".join(str(id_) for id_ in ids)
    rows = transaction.exec_driver_sql(f"SELECT {_COLUMNS} FROM source WHERE id IN ({among})").mappings()
    found = {row["id"]: source_of(row) for row in rows}
    return tuple(found[id_] for id_ in ids if id_ in found)


def count_kept(transaction: Transaction, root_id: int) -> int:
    """How many sources of the root are there, as far as is known."""
    return int(
        transaction.exec_driver_sql(
            "SELECT count(*) FROM source WHERE root_id = :root AND state NOT IN ('gone', 'held')",
            {"root": root_id},
        ).scalar_one()
    )


def count_pending(transaction: Transaction) -> int:
    """How many sources are to be worked on, now or later."""
    return int(transaction.exec_driver_sql("SELECT count(*) FROM source WHERE state = 'pending'").scalar_one())


def in_state(transaction: Transaction, *states: str, root_id: int | None = None) -> tuple[SourceRow, ...]:
    """Sources in one of the states, of one root or all, by id."""
    marks = ", ".join(f"'{state}'" for state in states)
    rows = transaction.exec_driver_sql(
        f"SELECT {_COLUMNS} FROM source WHERE state IN ({marks}) AND (:root IS NULL OR root_id = :root) ORDER BY id",
        {"root": root_id},
    )
    return tuple(source_of(row) for row in rows.mappings())


def _each(transaction: Transaction, statement: str, rows: Sequence[Mapping[str, object]]) -> None:
    # SQLAlchemy takes an empty sequence for a call without parameters.
    if rows:
        transaction.exec_driver_sql(statement, list(rows))


def _leave(
    transaction: Transaction,
    root_id: int,
    directory: bytes,
    names: Collection[bytes],
    state: str,
    reason: str | None,
    now_ns: int,
) -> None:
    if names:
        transaction.exec_driver_sql(
            "UPDATE source SET state = :state, reason = :reason, looked_ns = :now, seq = seq + 1, confirmed = 0, "
            "not_before_ns = 0 WHERE root_id = :root AND directory = :directory AND name = :name",
            [
                {"root": root_id, "directory": directory, "name": name, "state": state, "reason": reason, "now": now_ns}
                for name in names
            ],
        )


def source_of(values: RowMapping) -> SourceRow:
    """Value from a row of this module's columns."""
    directory, name = bytes(values["directory"]), bytes(values["name"])
    known = values["size"] is not None
    return SourceRow(
        id=values["id"],
        root_id=values["root_id"],
        path=directory + b"/" + name if directory else name,
        signature=Signature(
            size=values["size"],
            mtime_ns=values["mtime_ns"],
            ctime_ns=values["ctime_ns"],
            inode=unsigned(values["inode"]),
        )
        if known
        else None,
        looked_ns=values["looked_ns"],
        fingerprint=Fingerprint(bytes(values["fingerprint"]).hex()) if values["fingerprint"] is not None else None,
        mime=values["mime"],
        state=values["state"],
        reason=values["reason"],
        confirmed=bool(values["confirmed"]),
        successor_id=values["successor_id"],
        seq=values["seq"],
        attempts=values["attempts"],
        crashes=values["crashes"],
    )
