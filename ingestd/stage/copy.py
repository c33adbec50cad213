"""Copies and hashes an open file in one pass."""

import errno
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingestd.errors import FileUnreadable, OutOfSpace, TransientError
from ingestd.failpoints import failpoint
from ingestd.model.identity import Fingerprint

HEAD_BYTES = 4096
_PIECE_BYTES = 1 << 20
_FICLONE = 0x40049409
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """What was read of a file."""

    fingerprint: Fingerprint
    size: int
    head: bytes
    aside: Path | None = None
    """Private copy under its first name."""
    content: bytes | None = None

    def settle(self, target: Path) -> Path | None:
        """Give the private copy its name, when there is one."""
        if self.aside is None:
            return None
        failpoint("stage.before_rename")
        self.aside.rename(target)
        failpoint("stage.after_rename")
        return target

    def discard(self) -> None:
        """Remove the private copy while it is aside; may be repeated."""
        if self.aside is not None:
            self.aside.unlink(missing_ok=True)


def copied(source: int, aside: Path, name: str, size: int) -> Copy:
    """Copy to a new file, sharing its blocks where the file system can.

    Parameters
    ----------
    size
        Bytes that the file is expected to have; reading ends soon after them.

    Raises
    ------
    OutOfSpace
        No room; nothing is left behind.
    FileUnreadable
        The disk reported an error.
    """
    try:
        target = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _unwritable(aside, error) from error
    try:
        failpoint("stage.before_copy")
        if _cloned(source, target):
            # The clone is of one moment; the source may go on changing.
            return _read(target, name, size, lambda _piece: None, aside=aside)
        return _read(source, name, size, lambda piece: _write(target, piece, aside), aside=aside)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        os.close(target)


def held(source: int, name: str, size: int) -> Copy:
    """Read the file into memory."""
    pieces: list[bytes] = []
    copy = _read(source, name, size, pieces.append)
    return Copy(fingerprint=copy.fingerprint, size=copy.size, head=copy.head, content=b"".join(pieces))


def only_hashed(source: int, name: str, size: int) -> Copy:
    """Read the file and keep nothing but its head."""
    return _read(source, name, size, lambda _piece: None)


def _read(source: int, name: str, expected: int, take: Callable[[bytes], None], *, aside: Path | None = None) -> Copy:
    digest = hashlib.sha256()
    size, head = 0, b""
    for piece in _pieces(source, name):
        digest.update(piece)
        size += len(piece)
        if size > expected:  # someone appends faster than this reads: the caller sees that it changed
            break
        if len(head) < HEAD_BYTES:
            head = (head + piece)[:HEAD_BYTES]
        take(piece)
    return Copy(fingerprint=Fingerprint(digest.hexdigest()), size=size, head=head, aside=aside)


def _pieces(source: int, name: str) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(source, _PIECE_BYTES)
        except OSError as error:
            raise FileUnreadable(f"{name}: {error.strerror} while it was read") from error
        if not piece:
            return
        yield piece


def _write(target: int, piece: bytes, aside: Path) -> None:
    view = memoryview(piece)
    try:
        while view:
            view = view[os.write(target, view) :]
    except OSError as error:
        raise _unwritable(aside, error) from error


def _unwritable(aside: Path, error: OSError) -> Exception:
    if error.errno in _FULL:
        return OutOfSpace(f"no space left in {aside.parent}: make room, or move the state directory")
    return TransientError(f"cannot write to {aside.parent}: {error.strerror}")


def _cloned(source: int, target: int) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True
