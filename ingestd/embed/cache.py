"""Cache of vectors by embed digest and text hash, in a SQLite file of its own.

Bounded, bit-exact, safe to delete while nothing runs. It is never a reason to fail: a file that cannot be used is
started again, a full disk costs a warning.
"""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Generator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingestd.embed import cache_file
from ingestd.embed.vectors import bad_rows
from ingestd.failpoints import failpoint
from ingestd.logs import Log
from ingestd.model.identity import Digest, TextHash
from ingestd.model.vectors import Matrix

LIMIT_BYTES = 1024 * 1024 * 1024
"""Default bound of the file: about 600,000 vectors of 384 dimensions."""
_KEYS_A_QUERY = 500
_KNOWN = """SELECT key.text, vector.numbers, key.used FROM key JOIN vector ON vector.id = key.vector
WHERE key.embedder = ? AND key.text IN"""
_HELD = "SELECT text FROM key WHERE embedder = ? AND text IN"
_KEPT_SHARE = 0.9
_EPOCHS_A_LIMIT = 16
_LOG = Log(__name__)


class VectorCache:
    """Vectors seen before.

    Safe from any thread, one at a time. Over its bound it drops what was used longest ago, down to nine tenths. Uses
    are told apart by epochs: one begins at each opening, and whenever a sixteenth of the bound was written.

    Parameters
    ----------
    file
        Made when it is not there; SQLite keeps its ``-wal`` and ``-shm`` beside it.
    limit_bytes
        Bound of the file's size.
    """

    def __init__(self, file: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self._file = file
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._warned = False
        self._embedders: dict[str, int] = {}
        self._epoch = 0
        self._epoch_bytes = 0
        self._database: sqlite3.Connection | None = None
        with self._going_on("opened"):
            self._open()

    def get(self, embed: Digest, texts: Sequence[TextHash], dimension: int) -> tuple[NDArray[np.intp], Matrix]:
        """Those vectors of the texts that are known.

        Returns
        -------
        positions
            Into ``texts``, rising, shape ``(k,)``.
        vectors
            Their vectors, shape ``(k, dimension)``, bit for bit as they were put.
        """
        keys = [bytes.fromhex(text) for text in texts]
        known: dict[bytes, bytes] = {}
        idle: list[bytes] = []
        with self._lock:
            with self._going_on("read"):
                known, idle = self._read(embed, keys)
            with self._going_on("marked"):
                self._mark(embed, idle)
        found = [at for at, key in enumerate(keys) if len(known.get(key, b"")) == 4 * dimension]
        numbers = np.frombuffer(b"".join(known[keys[at]] for at in found), "<f4").astype(np.float32)
        vectors = numbers.reshape(len(found), dimension)
        # A page damaged on the disk need not break the file's structure.
        sound = np.ones(len(found), np.bool_)
        sound[list(bad_rows(vectors, rows=len(found), dimension=dimension))] = False
        return np.array(found, np.intp)[sound], vectors[sound]

    def put(self, embed: Digest, texts: Sequence[TextHash], vectors: Matrix) -> None:
        """Keep the vectors, shape ``(len(texts), dimension)``; rows that are no unit vectors are left out."""
        bad = set(bad_rows(vectors, rows=len(texts), dimension=vectors.shape[1]))
        numbers = vectors.astype("<f4", copy=False)
        rows = [(bytes.fromhex(text), numbers[at].tobytes()) for at, text in enumerate(texts) if at not in bad]
        with self._lock, self._going_on("written"):
            if self._database is not None and rows:
                failpoint("embed.cache_put")
                self._write(self._database, embed, rows)
                failpoint("embed.cached")
                self._shrink(self._database)
                self._warned = False

    @property
    def size_bytes(self) -> int:
        """Bytes in use; free pages of the file are left out."""
        with self._lock, self._going_on("read"):
            if self._database is not None:
                return cache_file.used_bytes(self._database)
        return 0

    def close(self) -> None:
        """Let go of the file; nothing is found or kept afterwards."""
        with self._lock, self._going_on("closed"):
            database, self._database = self._database, None
            if database is not None:
                database.close()

    def _open(self) -> None:
        self._database = database = cache_file.opened(self._file)
        self._embedders = dict(database.execute("SELECT digest, id FROM embedder"))
        with _transaction(database):
            self._begin_epoch(database)
        self._shrink(database)
        cache_file.give_back(database, self._limit_bytes)

    def _read(self, embed: Digest, keys: list[bytes]) -> tuple[dict[bytes, bytes], list[bytes]]:
        known: dict[bytes, bytes] = {}
        idle: list[bytes] = []
        embedder = self._embedders.get(embed)
        if self._database is None or embedder is None:
            return known, idle
        for start in range(0, len(keys), _KEYS_A_QUERY):
            piece = keys[start : start + _KEYS_A_QUERY]
            query = f"{_KNOWN} ({','.join('?' * len(piece))})"
            for text, numbers, used in self._database.execute(query, (embedder, *piece)):
                known[text] = numbers
                if used < self._epoch:
                    idle.append(text)
        return known, idle

    def _mark(self, embed: Digest, idle: list[bytes]) -> None:
        if self._database is None or not idle:
            return
        marks = [(self._epoch, self._embedders[embed], text) for text in idle]
        with _transaction(self._database):
            self._database.executemany("UPDATE key SET used = ? WHERE embedder = ? AND text = ?", marks)

    def _write(self, database: sqlite3.Connection, embed: Digest, rows: list[tuple[bytes, bytes]]) -> None:
        with _transaction(database):
            database.execute("INSERT OR IGNORE INTO embedder (digest) VALUES (?)", (embed,))
            (embedder,) = database.execute("SELECT id FROM embedder WHERE digest = ?", (embed,)).fetchone()
            (last,) = database.execute("SELECT coalesce(max(id), 0) FROM vector").fetchone()
            # What is there stays: one text keeps one vector.
            kept = self._known(database, embedder, [text for text, _ in rows])
            new: dict[bytes, bytes] = {}
            for text, numbers in rows:
                if text not in kept:
                    new.setdefault(text, numbers)
            keys = [(embedder, text, last + at, self._epoch) for at, text in enumerate(new, 1)]
            database.executemany("INSERT INTO key VALUES (?, ?, ?, ?)", keys)
            vectors = [(last + at, numbers) for at, numbers in enumerate(new.values(), 1)]
            database.executemany("INSERT INTO vector VALUES (?, ?)", vectors)
            self._epoch_bytes += sum(len(numbers) for _, numbers in rows)
            if self._epoch_bytes > self._limit_bytes // _EPOCHS_A_LIMIT:
                self._begin_epoch(database)
        self._embedders[embed] = embedder

    def _known(self, database: sqlite3.Connection, embedder: int, keys: list[bytes]) -> set[bytes]:
        known: set[bytes] = set()
        for start in range(0, len(keys), _KEYS_A_QUERY):
            piece = keys[start : start + _KEYS_A_QUERY]
            query = f"{_HELD} ({','.join('?' * len(piece))})"
            known.update(text for (text,) in database.execute(query, (embedder, *piece)))
        return known

    def _begin_epoch(self, database: sqlite3.Connection) -> None:
        ((self._epoch,),) = database.execute("UPDATE epoch SET number = number + 1 RETURNING number").fetchall()
        self._epoch_bytes = 0

    def _shrink(self, database: sqlite3.Connection) -> None:
        if cache_file.used_bytes(database) <= self._limit_bytes:
            return
        (count,) = database.execute("SELECT count(*) FROM key").fetchone()
        while count and (over := 1 - _KEPT_SHARE * self._limit_bytes / cache_file.used_bytes(database)) > 0:
            oldest = "SELECT vector, embedder, text FROM key ORDER BY used, vector LIMIT ?"
            victims = database.execute(oldest, (int(count * over) + 1,)).fetchall()
            with _transaction(database):
                database.executemany("DELETE FROM vector WHERE id = ?", [(number,) for number, _, _ in victims])
                database.executemany("DELETE FROM key WHERE embedder = ? AND text = ?", [row[1:] for row in victims])
            count -= len(victims)

    @contextlib.contextmanager
    def _going_on(self, what: str) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, sqlite3.Error) and cache_file.is_unusable(error) and what != "started again":
                self._start_again(error)
            elif not self._warned:
                self._warned = True
                _LOG.warning("vectors.not_cached", path=os.fsencode(self._file), what=what, reason=str(error))

    def _start_again(self, reason: sqlite3.Error) -> None:
        if self._database is not None:
            self._database.close()
        self._database = None
        with self._going_on("started again"):
            cache_file.discard(self._file, reason)
            self._open()


@contextlib.contextmanager
def _transaction(database: sqlite3.Connection) -> Generator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # A full disk may have ended it already.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
