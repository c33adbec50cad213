"""What discovery knows of a root's sources, read from the ledger directory by directory."""

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection

from ingestd.model.source import Signature
from ingestd.state.engine import Ledger
from ingestd.state.roots import unsigned

_HERE = "state NOT IN ('gone', 'held')"
_EXPECTED = "state <> 'held' AND NOT (state = 'gone' AND confirmed)"


class KnownInLedger:
    """The port :class:`~ingestd.ports.known.KnownSources` over one root; close it after the scan.

    Each question is a read of its own: a long transaction would keep the write-ahead log from being cut.
    """

    def __init__(self, ledger: Ledger, root_id: int) -> None:
        self._root_id = root_id
        self._connection: Connection = ledger.reading_connection()

    def in_directory(self, directory: bytes) -> Mapping[bytes, Signature | None]:
        """File name → signature of the sources directly in the directory."""
        rows = self._connection.exec_driver_sql(
            f"SELECT name, size, mtime_ns, ctime_ns, inode FROM source WHERE root_id = ? AND directory = ? AND {_HERE}",
            (self._root_id, directory),
        )
        return {
            name: None
            if size is None
            else Signature(size=size, mtime_ns=mtime, ctime_ns=ctime, inode=inode if inode >= 0 else unsigned(inode))
            for name, size, mtime, ctime, inode in rows.all()
        }

    def directories(self) -> Iterator[bytes]:
        """Each directory that holds a known source, once, in byte order."""
        previous: bytes | None = None
        while True:
            # One step of the index a question: no cursor stays open while the caller works.
            row = self._connection.exec_driver_sql(
                f"SELECT directory FROM source WHERE root_id = ? AND directory > ? AND {_HERE} "
                "ORDER BY directory LIMIT 1"
                if previous is not None
                else f"SELECT directory FROM source WHERE root_id = ? AND directory >= ? AND {_HERE} "
                "ORDER BY directory LIMIT 1",
                (self._root_id, previous or b""),
            ).first()
            if row is None:
                return
            previous = bytes(row[0])
            yield previous

    def count(self) -> int:
        """How many sources are known, those among them whose removal nobody let happen yet."""
        row = self._connection.exec_driver_sql(
            f"SELECT count(*) FROM source WHERE root_id = ? AND {_EXPECTED}", (self._root_id,)
        ).one()
        return int(row[0])

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()
