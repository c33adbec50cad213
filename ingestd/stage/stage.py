"""Reads a file once: what is hashed is what is converted."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

from ingestd.beneath import open_beneath, resolve_inside
from ingestd.errors import (
    FileEmpty,
    FileStillChanging,
    FileTooLarge,
    FileUnreadable,
    NotARegularFile,
    SourceGone,
    TransientError,
)
from ingestd.model.identity import Fingerprint
from ingestd.model.source import Signature, display
from ingestd.stage.copy import Copy, copied, held, only_hashed

_SUFFIX_CHARACTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_ASIDE = ".aside-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A file as it was at one moment."""

    path: Path | None
    """Private copy that nobody else writes to; ``None`` when none was asked for."""
    fingerprint: Fingerprint
    size: int
    """Bytes."""
    head: bytes
    """The first 4 KiB."""
    content: bytes | None = None
    """All of it, when no copy was asked for but the content was."""

    def discard(self) -> None:
        """Remove the private copy; may be repeated."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def stage(
    root_path: bytes,
    path: bytes,
    signature: Signature,
    *,
    into: Path,
    limit_bytes: int,
    copy: bool = True,
    keep_content: bool = False,
    follow_links: bool = False,
) -> Staged:
    """Open the source, hash it and copy it aside.

    Parameters
    ----------
    path
        Relative to the root.
    signature
        As it settled. Its inode is not compared: some mounts change it.
    into
        Existing directory for private copies, ours alone; a copy is named by fingerprint and a random part, so that
        two sources of the same bytes do not share one, with the suffix of the source.
    limit_bytes
        Larger files are refused before they are read.
    copy
        Whether a private copy is made.
    keep_content
        Without a copy: whether the content is kept in memory, so that what is converted is what was hashed.
    follow_links
        Whether the source may be reached through links that stay below the root.

    Raises
    ------
    SourceGone
        Nothing is at the path any more.
    FileStillChanging
        Other than it settled, or changed while it was read.
    OutOfSpace
        No room for the copy.
    NotARegularFile, FileEmpty, FileTooLarge, FileUnreadable
        For good, until the file changes.
    """
    name = display(path)
    with _opened(root_path, path, name, follow_links=follow_links) as source:
        before = os.fstat(source)
        _admit(name, before, signature, limit_bytes)
        if copy:
            made = copied(source, into / f"{_ASIDE}{secrets.token_hex(8)}", name, before.st_size)
        else:
            read = held if keep_content else only_hashed
            made = read(source, name, before.st_size)
        try:
            _unchanged(name, before, os.fstat(source), made)
            target = made.settle(into / f"{made.fingerprint}-{secrets.token_hex(4)}{_suffix(path)}")
        except BaseException:
            made.discard()
            raise
    return Staged(path=target, fingerprint=made.fingerprint, size=made.size, head=made.head, content=made.content)


def clear(into: Path) -> int:
    """Remove the private copies that a killed process left; how many they were."""
    left = [entry for entry in into.iterdir() if entry.is_file() and not entry.is_symlink()]
    for entry in left:
        entry.unlink(missing_ok=True)
    return len(left)


@contextlib.contextmanager
def _opened(root_path: bytes, path: bytes, name: str, *, follow_links: bool) -> Generator[int]:
    real = resolve_inside(root_path, path) if follow_links else path
    if not real:
        raise SourceGone(f"{name}: nothing is there, or a link leads out of the root")
    try:
        root_fd = os.open(root_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise TransientError(f"{display(root_path)}: {error.strerror}") from error
    try:
        source = open_beneath(root_fd, real)
    except OSError as error:
        raise _refused(name, error) from error
    finally:
        os.close(root_fd)
    try:
        yield source
    finally:
        os.close(source)


def _refused(name: str, error: OSError) -> Exception:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return SourceGone(f"{name}: no longer there")
        case errno.ELOOP | errno.EXDEV:
            return NotARegularFile(f"{name}: a link on the way; links are followed only with `follow_links = true`")
        case errno.ENXIO | errno.ENODEV:
            return NotARegularFile(f"{name}: a socket or device, not a regular file")
        case errno.EMFILE | errno.ENFILE | errno.ENOMEM | errno.ESTALE | errno.ETIMEDOUT:
            return TransientError(f"{name}: {error.strerror}")
        case _:
            return FileUnreadable(f"{name}: {error.strerror}; the daemon's user needs to read it")


def _admit(name: str, status: os.stat_result, signature: Signature, limit_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotARegularFile(f"{name}: a FIFO, socket, device or directory, not a regular file")
    if replace(Signature.of(status), inode=signature.inode) != signature:
        raise FileStillChanging(f"{name}: changed since it settled")
    if status.st_size == 0:
        raise FileEmpty(f"{name}: the file is empty")
    if status.st_size > limit_bytes:
        raise FileTooLarge(f"{name}: {status.st_size} bytes, the limit for its type is {limit_bytes}")


def _unchanged(name: str, before: os.stat_result, after: os.stat_result, made: Copy) -> None:
    if Signature.of(before) != Signature.of(after) or made.size != before.st_size:
        raise FileStillChanging(f"{name}: changed while it was read")


def _suffix(path: bytes) -> str:
    """Suffix of the source for engines that go by it, only where it is short and plain."""
    name = path.rpartition(b"/")[2]
    stem, dot, suffix = name.rpartition(b".")
    plain = stem and dot and len(suffix) <= 12 and _SUFFIX_CHARACTERS.issuperset(suffix)
    return f".{suffix.decode('ascii')}" if plain else ""
