"""Converted documents on disk, by the bytes they came from and the identity of the conversion.

Safe to delete as a whole or in part at any time. What cannot be converted is not kept here.
"""

import contextlib
import logging
import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

from ingestd.convert.entry import packed, unpacked
from ingestd.errors import OutOfSpace
from ingestd.failpoints import failpoint
from ingestd.model.document import Document
from ingestd.model.identity import Digest, Fingerprint

_LOG = logging.getLogger(__name__)
_SUFFIX = ".z"
_ASIDE = ".aside"
_EVICT_TO = 0.9
"""Eviction leaves this share of the limit, so that it does not run at each entry."""

Pinned = Callable[[Fingerprint, Digest], bool]


def _nothing_pinned(_fingerprint: Fingerprint, _digest: Digest) -> bool:
    return False


class ConversionCache:
    """One compressed file an entry, the least recently used ones evicted over the limit.

    Safe from any thread of one process; two processes may share a directory at the cost of a looser limit.
    """

    def __init__(self, directory: Path, limit_bytes: int, *, pinned: Pinned | None = None) -> None:
        """Use the directory, made when the first entry is.

        Parameters
        ----------
        directory
            Owned by the cache.
        limit_bytes
            Bound on the files' bytes, the pinned ones included.
        pinned
            Says which entries are never evicted: artifacts of served versions and open intents.
        """
        self.directory = directory
        self._limit_bytes = limit_bytes
        self._pinned = pinned or _nothing_pinned
        self._lock = threading.Lock()
        self._bytes: int | None = None
        self._evict_above = limit_bytes
        self._aside = 0

    def get(self, fingerprint: Fingerprint, digest: Digest) -> Document | None:
        """The document kept for these bytes and this conversion; an entry that cannot be read is removed."""
        path = self._path(fingerprint, digest)
        try:
            document = unpacked(path.read_bytes())
        except FileNotFoundError:
            return None
        except (zlib.error, ValueError, KeyError, TypeError, IndexError, OSError) as error:
            _LOG.warning("conversion cache entry is corrupt", extra={"entry": str(path), "reason": str(error)})
            path.unlink(missing_ok=True)
            return None
        _touch(path)
        return document

    def has(self, fingerprint: Fingerprint, digest: Digest) -> bool:
        """Whether an entry is kept, readable or not."""
        return self._path(fingerprint, digest).exists()

    def put(self, fingerprint: Fingerprint, digest: Digest, document: Document) -> None:
        """Keep the document, then evict what is over the limit.

        Raises
        ------
        OutOfSpace
            When the disk is full even after evicting.
        """
        path = self._path(fingerprint, digest)
        content = packed(document)
        try:
            written = self._write(path, content)
        except OSError as error:
            raise OutOfSpace(f"the conversion cache cannot write to {path.parent}: {error.strerror}") from error
        with self._lock:
            if self._bytes is not None:
                self._bytes += written
            if self._bytes is None or self._bytes > self._evict_above:
                self._evict()

    def share(self, fingerprint: Fingerprint, digest: Digest, other: Digest) -> None:
        """Have the entry of one conversion serve for another of the same result, on the same bytes of the disk.

        Where the file system has no links, nothing is shared.
        """
        with contextlib.suppress(OSError):
            os.link(self._path(fingerprint, digest), self._path(fingerprint, other))

    def _path(self, fingerprint: Fingerprint, digest: Digest) -> Path:
        return self.directory / fingerprint[:2] / f"{fingerprint[2:]}.{digest}{_SUFFIX}"

    def _write(self, path: Path, content: bytes) -> int:
        """Write aside, then rename; give the bytes that the entry added."""
        with self._lock:
            self._aside += 1
            aside = path.with_name(f"{os.getpid()}-{self._aside}{_ASIDE}")
        failpoint("convert.cache.write")
        try:
            _write_bytes(aside, content)
            failpoint("convert.cache.written")
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        failpoint("convert.cache.renamed")
        return len(content)

    def _evict(self) -> None:
        """Count what is there; over the limit, remove the least recently used first."""
        entries = sorted(_entries(self.directory))
        held = sum(size for _, size, _ in entries)
        goal = self._limit_bytes * _EVICT_TO if held > self._limit_bytes else held
        for _, size, path in entries:
            if held <= goal:
                break
            if not self._pinned(*_key(path)):
                path.unlink(missing_ok=True)
                held -= size
        self._bytes = held
        # What is pinned may be over the limit by itself: look again only when it has grown.
        self._evict_above = max(self._limit_bytes, int(held * (2 - _EVICT_TO)))


def _write_bytes(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _entries(directory: Path) -> list[tuple[int, int, Path]]:
    """Last use, size and path of each entry; files left aside by a process that died are removed."""
    found: list[tuple[int, int, Path]] = []
    for path in directory.glob("??/*"):
        try:
            stat = path.stat()
        except OSError:
            continue
        if path.suffix == _SUFFIX:
            # What several entries share is counted once.
            found.append((stat.st_mtime_ns, stat.st_size // max(1, stat.st_nlink), path))
        elif path.suffix == _ASIDE and not path.name.startswith(f"{os.getpid()}-"):
            path.unlink(missing_ok=True)
    return found


def _key(path: Path) -> tuple[Fingerprint, Digest]:
    rest, _, digest = path.name.removesuffix(_SUFFIX).partition(".")
    return Fingerprint(path.parent.name + rest), Digest(digest)


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except OSError:
        return
