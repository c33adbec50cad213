"""Tells whether a root is there, and is the one it was."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ingestd.model.source import Signature, display
from ingestd.ports.known import KnownSources

SAMPLE = 200
"""Known sources looked up in a root whose identity changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootIdentity:
    """What tells a directory from another at the same path. The device's number may change when it is mounted again."""

    device: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "RootIdentity":
        """Identity from the result of a stat."""
        return cls(device=status.st_dev, inode=status.st_ino)


@dataclass(frozen=True, slots=True, kw_only=True)
class Online:
    """The root is there: scan it."""

    identity: RootIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanished:
    """The root is missing, unreadable, empty or another: nothing of it is retired until someone confirms it."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """Another directory stands at the path, and holds most of what was known.

    Such as the same disk mounted again under another device number, or a restored copy.
    """

    identity: RootIdentity
    looked_for: int
    """Known sources that were looked up."""
    found: int
    """Those that are there."""
    alike: int
    """Those that have the size and modification time that they had."""

    @property
    def is_same_tree(self) -> bool:
        """Whether only its number is another: some file systems give the device a new one at every boot."""
        return self.alike == self.looked_for


Examination = Online | Vanished | Replaced


def examine(path: bytes, recorded: RootIdentity | None, known: KnownSources) -> Examination:
    """Look at a root before it is scanned.

    Parameters
    ----------
    path
        The root itself may be reached through links.
    recorded
        Identity at the last scan that was accepted, ``None`` before the first.
    known
        The root's sources; while there are none, an empty or replaced root is just as good.
    """
    try:
        status = os.stat(path)  # noqa: PTH116  # a Path holds no bytes
        if not stat.S_ISDIR(status.st_mode):
            return Vanished(reason=f"{display(path)} is no directory")
        with os.scandir(path) as entries:
            empty = next(entries, None) is None
    except OSError as error:
        return Vanished(reason=f"{display(path)}: {error.strerror}")
    count = known.count()
    identity = RootIdentity.of(status)
    if empty and count:
        return Vanished(reason=f"{display(path)} is empty, but {count} sources are known below it: not mounted?")
    if recorded is None or recorded == identity or not count:
        return Online(identity=identity)
    return _replaced(path, identity, known)


def _replaced(path: bytes, identity: RootIdentity, known: KnownSources) -> Examination:
    looked_for = found = alike = 0
    for source, signature in islice(_sources(known), SAMPLE):
        looked_for += 1
        try:
            seen = os.stat(path + b"/" + source, follow_symlinks=False)  # noqa: PTH116  # a Path holds no bytes
        except OSError:
            continue
        found += 1
        if signature is not None and (signature.size, signature.mtime_ns) == (seen.st_size, seen.st_mtime_ns):
            alike += 1
    if 2 * found <= looked_for:
        missing = looked_for - found
        return Vanished(reason=f"{display(path)} is another directory: {missing} of {looked_for} sources are not there")
    return Replaced(identity=identity, looked_for=looked_for, found=found, alike=alike)


def _sources(known: KnownSources) -> Iterator[tuple[bytes, Signature | None]]:
    for directory in known.directories():
        prefix = directory + b"/" if directory else b""
        for name, signature in known.in_directory(directory).items():
            yield prefix + name, signature
