"""Roots, as last seen."""

from dataclasses import dataclass

from sqlalchemy import RowMapping

from ingestd.model.identity import CollectionName, RootName
from ingestd.state.engine import Transaction

_COLUMNS = "id, name, path, collection, origin, state, reason, device, inode, last_scan_ns"


@dataclass(frozen=True, slots=True, kw_only=True)
class RootRow:
    """A root in the ledger."""

    id: int
    name: RootName
    path: bytes
    collection: CollectionName
    origin: str
    """``configured``, or ``folder`` when the command line named it."""
    state: str
    """``new``, ``online``, ``vanished`` or ``detached``."""
    reason: str | None
    device: int | None
    inode: int | None
    last_scan_ns: int | None


def all_roots(transaction: Transaction) -> tuple[RootRow, ...]:
    """Every root, by name."""
    rows = transaction.exec_driver_sql(f"SELECT {_COLUMNS} FROM root ORDER BY name").mappings()
    return tuple(_row(row) for row in rows)


def record(transaction: Transaction, name: str, path: bytes, collection: str, origin: str) -> RootRow:
    """Root of that name, made or brought up to date; one that was detached is attached again."""
    transaction.exec_driver_sql(
        "INSERT INTO root(name, path, collection, origin, state) VALUES(:name, :path, :collection, :origin, 'new') "
        "ON CONFLICT(name) DO UPDATE SET collection = :collection, origin = :origin, path = :path, "
        "state = CASE WHEN state = 'detached' THEN 'new' ELSE state END",
        {"name": name, "path": path, "collection": collection, "origin": origin},
    )
    found = transaction.exec_driver_sql(f"SELECT {_COLUMNS} FROM root WHERE name = :name", {"name": name})
    return _row(found.mappings().one())


def by_id(transaction: Transaction, root_id: int) -> RootRow:
    """Root of that id, as it is now."""
    found = transaction.exec_driver_sql(f"SELECT {_COLUMNS} FROM root WHERE id = :id", {"id": root_id})
    return _row(found.mappings().one())


def set_state(transaction: Transaction, root_id: int, state: str, reason: str | None = None) -> None:
    """State a root is in, and why."""
    transaction.exec_driver_sql(
        "UPDATE root SET state = :state, reason = :reason WHERE id = :id",
        {"id": root_id, "state": state, "reason": reason},
    )


def set_identity(transaction: Transaction, root_id: int, device: int, inode: int) -> None:
    """Device and inode that the root's path led to."""
    transaction.exec_driver_sql(
        "UPDATE root SET device = :device, inode = :inode WHERE id = :id",
        {"id": root_id, "device": signed(device), "inode": signed(inode)},
    )


def forget_identity(transaction: Transaction, root_id: int) -> None:
    """Whatever stands at the root's path at the next scan is the root."""
    transaction.exec_driver_sql(
        "UPDATE root SET device = NULL, inode = NULL, state = 'new', reason = NULL WHERE id = :id",
        {"id": root_id},
    )


def scanned(transaction: Transaction, root_id: int, now_ns: int) -> None:
    """A full scan of the root ended."""
    transaction.exec_driver_sql(
        "UPDATE root SET last_scan_ns = :now, state = 'online', reason = NULL WHERE id = :id",
        {"id": root_id, "now": now_ns},
    )


def forget_root(transaction: Transaction, root_id: int) -> None:
    """Drop a root that has no sources left."""
    transaction.exec_driver_sql(
        "DELETE FROM root WHERE id = :id AND NOT EXISTS (SELECT 1 FROM source WHERE root_id = :id)",
        {"id": root_id},
    )


def signed(value: int) -> int:
    """Unsigned 64-bit number of the kernel as SQLite's signed one, reversibly."""
    return value - (1 << 64) if value >= 1 << 63 else value


def unsigned(value: int) -> int:
    """Inverse of :func:`signed`."""
    return value + (1 << 64) if value < 0 else value


def _row(values: RowMapping) -> RootRow:
    device, inode = values["device"], values["inode"]
    return RootRow(
        id=values["id"],
        name=RootName(values["name"]),
        path=bytes(values["path"]),
        collection=CollectionName(values["collection"]),
        origin=values["origin"],
        state=values["state"],
        reason=values["reason"],
        device=None if device is None else unsigned(device),
        inode=None if inode is None else unsigned(inode),
        last_scan_ns=values["last_scan_ns"],
    )
