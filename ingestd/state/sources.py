"""Sources, as last seen, with the work that is due on them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import RowMapping

from ingestd.model.identity import Fingerprint
from ingestd.model.source import Signature
from ingestd.state.engine import Transaction
from ingestd.state.roots import unsigned

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
    rows = transaction.exec_driver_sql(
        f"SELECT {_COLUMNS} FROM source WHERE state = 'pending' AND not_before_ns <= :now "
        f"AND root_id IN ({_there(root_ids)}) "
        "AND (crashes > 0, id) > (:crashed, :after) ORDER BY crashes > 0, id LIMIT :limit",
        {"now": now_ns, "limit": limit, "crashed": after[0], "after": after[1]},
    )
    return tuple(source_of(row) for row in rows.mappings())


def next_settling(transaction: Transaction, now_ns: int, root_ids: Collection[int]) -> int | None:
    """Wall clock when the next source of these roots is due that was put off only for its file to hold still."""
    due_ns = transaction.exec_driver_sql(
        "SELECT min(not_before_ns) FROM source WHERE state = 'pending' AND not_before_ns > :now AND reason IS NULL "
        f"AND root_id IN ({_there(root_ids)})",
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


def _there(root_ids: Collection[int]) -> str:
    """Subquery of those roots that did not vanish: below them a file that is missing says nothing."""
    among = ", ".join(str(root_id) for root_id in root_ids)
    return f"SELECT id FROM root WHERE id IN ({among}) AND state <> 'vanished'"


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
