"""The SQLite file of the vector cache: made, stamped, started again when it cannot be used."""

import contextlib
import os
import sqlite3
from pathlib import Path

from ingestd.logs import Log

APPLICATION_ID = 0x1DE57EC0
"""In the header of our files: one without it is someone else's."""
VERSION = 1
"""Raised when the tables change; a file of another version is started again."""
_PAGE_BYTES = 16 * 1024
# Vectors lie in the order they came, in pages that hold ten of 384 dimensions; the small rows of keys are what is
# searched and marked. One table without rowid would put each vector on overflow pages and rewrite it to mark it.
_TABLES = """
CREATE TABLE embedder (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE vector (id INTEGER PRIMARY KEY, numbers BLOB NOT NULL) STRICT;
CREATE TABLE key (
    embedder INTEGER NOT NULL, text BLOB NOT NULL, vector INTEGER NOT NULL, used INTEGER NOT NULL,
    PRIMARY KEY (embedder, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE epoch (number INTEGER NOT NULL) STRICT;
INSERT INTO epoch VALUES (0);
"""
_LOG = Log(__name__)


def opened(file: Path) -> sqlite3.Connection:
    """Connection to the cache file, made or started again as needed; usable from any one thread at a time.

    Raises
    ------
    sqlite3.Error
        When no file can be made there.
    """
    try:
        return _opened(file)
    except sqlite3.DatabaseError as error:
        if not is_unusable(error):
            raise
        discard(file, error)
    return _opened(file)


def is_unusable(error: sqlite3.Error) -> bool:
    """Whether the error says that the file itself is of no use: corrupt, no database, or not a cache of this version."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, _NotOurs) or (
        code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    )


def discard(file: Path, reason: sqlite3.Error) -> None:
    """Take the file out of the way: what never was a cache of ours is kept beside it, under the suffix ``.aside``."""
    aside = file.with_name(file.name + ".aside")
    _LOG.warning("vectors.restarted", path=os.fsencode(file), reason=str(reason))
    for suffix in ("-wal", "-shm", "-journal"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    if isinstance(reason, _OtherVersion) or getattr(reason, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT:
        file.unlink(missing_ok=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            file.replace(aside)


def used_bytes(database: sqlite3.Connection) -> int:
    """Bytes of the pages in use."""
    return _PAGE_BYTES * (_number(database, "page_count") - _number(database, "freelist_count"))


def give_back(database: sqlite3.Connection, limit_bytes: int) -> None:
    """Shorten a file that is over the limit by its free pages."""
    if _PAGE_BYTES * _number(database, "page_count") > limit_bytes:
        # Not execute(): that takes one step, which frees one page.
        database.executescript("PRAGMA incremental_vacuum")


class _NotOurs(sqlite3.DatabaseError):
    pass


class _OtherVersion(_NotOurs):
    pass


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=1, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    application, version = _number(database, "application_id"), _number(database, "user_version")
    is_new = not application and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if is_new:
        # Both count only before the first page is written.
        database.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    elif application != APPLICATION_ID:
        raise _NotOurs("it is a database of something else")
    elif version != VERSION:
        raise _OtherVersion(f"it has version {version}, this program writes {VERSION}")
    database.execute("PRAGMA journal_mode = WAL")
    # A cache may lose its last vectors in a power loss: no sync but at checkpoints.
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA journal_size_limit = 67108864")
    if is_new:
        stamp = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
        database.executescript(f"BEGIN IMMEDIATE; {_TABLES} {stamp} COMMIT;")


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])
