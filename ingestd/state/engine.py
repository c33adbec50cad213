"""Connections to the ledger's SQLite file."""

import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, event, exc
from sqlalchemy.pool import NullPool, StaticPool

from ingestd.errors import OutOfSpace, StateUnusable, TransientError
from ingestd.failpoints import failpoint

Transaction = Connection
"""An open transaction: every function of this package that reads or writes takes one."""

_APPLICATION_ID = 0x696E6764
_READERS_KEPT = 4
_LEAST_BYTES = 256 * 1024
"""Room that SQLite needs beside the ledger to open it at all."""
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=10000",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA wal_autocheckpoint=1000",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA trusted_schema=OFF",
)


class Ledger:
    """The owner's one writing connection, and short reading ones for any thread."""

    def __init__(self, file: Path) -> None:
        """Open or make the file; :func:`ingestd.state.schema.migrate` brings its tables up to date."""
        self.file = file
        self._lock = threading.RLock()
        self._writer = create_engine("sqlite://", creator=self._connect, poolclass=StaticPool)
        self._reader = create_engine("sqlite://", creator=self._connect_read_only, poolclass=NullPool)
        # A new connection costs ten looks, and a pool's hands cost two: as many as threads are at work are kept here.
        self._kept: deque[Connection] = deque()
        self._keeping = _READERS_KEPT
        # A transaction that reads first and writes later would fail at once beside another writer: take the lock first.
        event.listen(self._writer, "begin", _begin_immediate)
        event.listen(self._reader, "begin", _begin)
        # Without that: each statement is a look of its own, and none keeps the write-ahead log from being cut.
        self._looker = create_engine(
            "sqlite://", creator=self._connect_read_only, poolclass=NullPool, isolation_level="AUTOCOMMIT"
        )

    @contextmanager
    def write(self, fact: str) -> Generator[Transaction]:
        """One durable step; committed when the block ends without an exception, else rolled back.

        Parameters
        ----------
        fact
            What the transaction states; names its failpoints ``ledger.<fact>.before`` and ``ledger.<fact>.after``.

        Raises
        ------
        OutOfSpace, TransientError, StateUnusable
            What SQLite's errors mean here.
        """
        with self._lock, _translated(self.file), self._writer.begin() as transaction:
            yield transaction
            failpoint(f"ledger.{fact}.before")
        failpoint(f"ledger.{fact}.after")

    @contextmanager
    def read(self) -> Generator[Transaction]:
        """One short, consistent look; safe from any thread. Long ones let the write-ahead log grow."""
        with _translated(self.file):
            connection = self._kept_reader() or self._reader.connect()
            try:
                with connection.begin():
                    yield connection
            except BaseException:
                connection.close()
                raise
            if len(self._kept) < self._keeping:
                self._kept.append(connection)
            else:
                connection.close()

    def reading_connection(self) -> Connection:
        """Connection for many single reads, each seeing the newest commit; the caller closes it."""
        with _translated(self.file):
            return self._looker.connect()

    def close(self) -> None:
        """Checkpoint, then close."""
        with self._lock:
            self._keeping = 0
            while reader := self._kept_reader():
                reader.close()
            self._reader.dispose()
            self._looker.dispose()
            # Last: only a connection that may write can checkpoint.
            self._writer.dispose()

    def _kept_reader(self) -> Connection | None:
        # Many threads look: whether one is left is known by taking it.
        try:
            return self._kept.pop()
        except IndexError:
            return None

    def _connect(self) -> sqlite3.Connection:
        with _translated(self.file):
            connection = sqlite3.connect(self.file, isolation_level=None, timeout=10, check_same_thread=False)
            try:
                _check_ours(connection, self.file)
                for pragma in _PRAGMAS:
                    connection.execute(pragma)
            except BaseException:
                connection.close()
                raise
        return connection

    def _connect_read_only(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.file.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA busy_timeout=10000")
        return connection


def each(transaction: Transaction, statement: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Execute the statement once for each row of values; nothing where there is none."""
    # SQLAlchemy takes an empty sequence for a call without parameters.
    if rows:
        transaction.exec_driver_sql(statement, list(rows))


def _begin_immediate(connection: Connection) -> None:
    driver(connection).execute("BEGIN IMMEDIATE")


def _begin(connection: Connection) -> None:
    driver(connection).execute("BEGIN")


def _check_ours(connection: sqlite3.Connection, file: Path) -> None:
    """Mark a file that is new; refuse one that another program made."""
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    if found == _APPLICATION_ID:
        return
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if found or tables:
        raise StateUnusable(
            f"{file} is the database of another program (application id {found:#x}): name another directory with "
            "--state-dir, or move the file away"
        )
    connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")


def driver(transaction: Transaction) -> sqlite3.Connection:
    """Driver's connection of the transaction, for what runs many times a document.

    SQLAlchemy's way to a statement and its rows costs four times what SQLite does (measured 2026-11); the transaction
    stays its own.
    """
    connection = transaction.connection.driver_connection
    assert isinstance(connection, sqlite3.Connection)
    return connection


@contextmanager
def _translated(file: Path) -> Generator[None]:
    try:
        yield
    except exc.DBAPIError as error:
        meaning = _meaning(error.orig, file)
        if meaning is None:
            raise
        raise meaning from error
    except sqlite3.Error as error:
        meaning = _meaning(error, file)
        if meaning is None:
            raise
        raise meaning from error


def _has_no_room(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free < _LEAST_BYTES
    except OSError:
        return False


def _meaning(error: BaseException | None, file: Path) -> Exception | None:
    code = getattr(error, "sqlite_errorname", "") or ""
    # A full disk has no room for the files beside the ledger either, which SQLite makes to read it.
    if code.startswith("SQLITE_FULL") or (code.startswith(("SQLITE_CANTOPEN", "SQLITE_IOERR")) and _has_no_room(file)):
        return OutOfSpace(f"the disk of the ledger {file} is full: free some space; work goes on by itself then")
    if code == "SQLITE_IOERR_WRITE":
        # A quota and a limit on a file's size come as this; so does a disk that breaks.
        return OutOfSpace(
            f"the ledger {file} cannot be written ({error}): is a quota used up, or does the disk fail? See the "
            "kernel's log; work goes on by itself once it can"
        )
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return TransientError(f"the ledger {file} is locked by another program: close it", delay_seconds=5)
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StateUnusable(
            f"the ledger {file} is damaged ({error}): move it away and start again; ids, vectors and conversions are "
            "found again from the store and the caches"
        )
    if code.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_PERM")):
        return StateUnusable(f"the ledger {file} cannot be opened or written ({error}): check the folder's permissions")
    return None
