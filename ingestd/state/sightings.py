"""States what scans saw of sources, and what people decided of those that are gone."""

from collections.abc import Collection, Mapping

from ingestd.model.source import Signature
from ingestd.state.engine import Transaction, each
from ingestd.state.roots import signed
from ingestd.state.sources import SourceRow


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


def all_gone(transaction: Transaction, root_id: int, now_ns: int) -> None:
    """Nothing of the root is there, as a person confirmed."""
    transaction.exec_driver_sql(
        "UPDATE source SET state = 'held', looked_ns = :now, seq = seq + 1, not_before_ns = 0 WHERE root_id = :root",
        {"root": root_id, "now": now_ns},
    )


def hold(transaction: Transaction, ids: Collection[int], reason: str) -> None:
    """Removals that wait for a confirmation."""
    each(
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


def confirm(transaction: Transaction, root_id: int) -> int:
    """Let the held removals of a root happen; returns how many."""
    return transaction.exec_driver_sql(
        "UPDATE source SET state = 'gone', confirmed = 1 WHERE root_id = :root AND state = 'held'",
        {"root": root_id},
    ).rowcount


def confirm_sources(transaction: Transaction, ids: Collection[int]) -> None:
    """Let these removals happen, held or not yet due."""
    each(
        transaction,
        "UPDATE source SET state = 'gone', confirmed = 1 WHERE id = :id AND state IN ('held', 'gone')",
        [{"id": id_} for id_ in ids],
    )


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
