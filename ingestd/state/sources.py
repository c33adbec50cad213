"""Sources, as last seen, with the work that is due on them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ingestd.model.identity import Fingerprint
from ingestd.model.source import Signature
from ingestd.state.engine import Transaction, driver
from ingestd.state.roots import unsigned

_COLUMNS = (
    "id, root_id, directory, name, size, mtime_ns, ctime_ns, inode, looked_ns, fingerprint, mime, state, reason, "
    "confirmed, successor_id, seq, attempts, crashes"
)

UNFINISHED = "state <> 'done'"
"""SQLite takes the index of unfinished sources only for a condition that repeats its own: without, it reads them all."""


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
    crashed, id_ = after
    calm: list[SourceRow] = []
    if not crashed:
        fresh = _due(transaction, "not_before_ns = 0 AND crashes = 0", root_ids, limit, id_)
        put_off = _due(transaction, "not_before_ns BETWEEN 1 AND :now AND crashes = 0", root_ids, limit, id_, now_ns)
        calm = sorted((*fresh, *put_off), key=lambda source: source.id)[:limit]
    if len(calm) == limit:
        return tuple(calm)
    behind = id_ if crashed else 0
    blamed = _due(transaction, "not_before_ns <= :now AND crashes > 0", root_ids, limit - len(calm), behind, now_ns)
    return (*calm, *blamed)


def _due(
    transaction: Transaction, which: str, root_ids: Collection[int], limit: int, behind: int, now_ns: int = 0
) -> list[SourceRow]:
    # The plus keeps SQLite from going through all sources of a root. Those that were never put off lie in the index by
    # their ids: the next of a million are found without sorting them.
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM source WHERE state = 'pending' AND {UNFINISHED} AND {which} AND id > :behind "
        f"AND +root_id IN ({_there(root_ids)}) ORDER BY id LIMIT :limit",
        {"now": now_ns, "behind": behind, "limit": limit},
    )
    return list(map(_source, rows.fetchall()))


def next_settling(transaction: Transaction, now_ns: int, root_ids: Collection[int]) -> int | None:
    """Wall clock when the next source of these roots is due that was put off only for its file to hold still."""
    rows = driver(transaction).execute(
        f"SELECT min(not_before_ns) FROM source WHERE state = 'pending' AND {UNFINISHED} AND not_before_ns > :now "
        f"AND reason IS NULL AND root_id IN ({_there(root_ids)})",
        {"now": now_ns},
    )
    (due_ns,) = rows.fetchone()
    return None if due_ns is None else int(due_ns)


def removals(transaction: Transaction) -> tuple[SourceRow, ...]:
    """Sources that are gone and whose file was not found under a path that is still pending."""
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM source AS old WHERE state = 'gone' AND {UNFINISHED} AND NOT EXISTS "
        "(SELECT 1 FROM source AS new WHERE new.id = old.successor_id AND new.state = 'pending') ORDER BY id"
    )
    return tuple(map(_source, rows.fetchall()))


def by_path(transaction: Transaction, root_id: int, path: bytes) -> SourceRow | None:
    """Source at the path."""
    directory, _, name = path.rpartition(b"/")
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM source WHERE root_id = :root AND directory = :directory AND name = :name",
        {"root": root_id, "directory": directory, "name": name},
    )
    return next(map(_source, rows.fetchall()), None)


def by_ids(transaction: Transaction, ids: Sequence[int]) -> tuple[SourceRow, ...]:
    """Sources of those ids that exist."""
    among = ", ".join(str(id_) for id_ in ids)
    rows = driver(transaction).execute(f"SELECT {_COLUMNS} FROM source WHERE id IN ({among})")
    found = {source.id: source for source in map(_source, rows.fetchall())}
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
    rows = driver(transaction).execute(f"SELECT count(*) FROM source WHERE state = 'pending' AND {UNFINISHED}")
    (count,) = rows.fetchone()
    return int(count)


def still_pending(transaction: Transaction, ids: Collection[int]) -> frozenset[int]:
    """Those of the ids whose sources are to be worked on, now or later."""
    among = ", ".join(str(id_) for id_ in ids)
    rows = driver(transaction).execute(f"SELECT id FROM source WHERE id IN ({among}) AND state = 'pending'")
    return frozenset(id_ for (id_,) in rows)


def in_state(transaction: Transaction, *states: str, root_id: int | None = None) -> tuple[SourceRow, ...]:
    """Sources in one of the states, of one root or all, by id."""
    marks = ", ".join(f"'{state}'" for state in states)
    among = "TRUE" if "done" in states else UNFINISHED
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM source WHERE state IN ({marks}) AND {among} AND (:root IS NULL OR root_id = :root) ORDER BY id",
        {"root": root_id},
    )
    return tuple(map(_source, rows.fetchall()))


def _there(root_ids: Collection[int]) -> str:
    """Subquery of those roots that did not vanish: below them a file that is missing says nothing."""
    among = ", ".join(str(root_id) for root_id in root_ids)
    return f"SELECT id FROM root WHERE id IN ({among}) AND state <> 'vanished'"


def _source(row: tuple[Any, ...]) -> SourceRow:
    (id_, root_id, directory, name, size, mtime_ns, ctime_ns, inode, looked_ns, fingerprint, mime, *others) = row
    state, reason, confirmed, successor_id, seq, attempts, crashes = others
    return SourceRow(
        id=id_,
        root_id=root_id,
        path=directory + b"/" + name if directory else name,
        signature=None
        if size is None
        else Signature(size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns, inode=unsigned(inode)),
        looked_ns=looked_ns,
        fingerprint=None if fingerprint is None else Fingerprint(fingerprint.hex()),
        mime=mime,
        state=state,
        reason=reason,
        confirmed=bool(confirmed),
        successor_id=successor_id,
        seq=seq,
        attempts=attempts,
        crashes=crashes,
    )
