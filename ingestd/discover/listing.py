"""Values that looking at directories takes and gives."""

import errno
from collections.abc import Callable
from dataclasses import dataclass, field

from ingestd.discover.difference import Difference
from ingestd.discover.rules import FolderRules

ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
"""Errors that say that nothing of the kind is there; any other says that nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryScan:
    """What a scan found in one directory. Names are those of its direct entries."""

    directory: bytes
    """Relative to the root; ``b""`` is the root."""
    difference: Difference = field(default_factory=Difference)
    excluded: tuple[bytes, ...] = ()
    """Known sources that the rules leave out by now: retired only when confirmed."""
    ignored: int = 0
    """Entries that the rules leave out, directories counted once."""
    ignored_reasons: tuple[tuple[str, int], ...] = ()
    unusual: tuple[tuple[bytes, str], ...] = ()
    """Entries that are wanted and cannot be sources, each with what it is; a known source that could not be examined
    is here and not among the removed."""
    unknown: str | None = None
    """Why the directory could not be listed. Then nothing in it or below it counts as removed."""
    submount: bool = False
    """Whether another file system is mounted here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A directory on the way of a scan."""

    path: bytes
    """As its sources are named."""
    real: bytes
    """The same without links."""
    linked: bool = False
    """Whether a link was followed to it."""
    rules: FolderRules
    """Those of the directories above."""
    device: int
    """Of the directory above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """How directories of one root are looked at."""

    root: bytes
    root_fd: int
    follow_links: bool
    ignore_inode: bool
    stop: Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A directory with the directories in it that are wanted."""

    scan: DirectoryScan
    folders: tuple[Folder, ...] = ()
    missing: bool = False
    empty: bool = False
    """Nothing at all is in it, not even what the rules leave out."""


class Stopped(Exception):  # no error: the scan was asked to end
    """The scan was asked to end in the middle of a directory."""


def holds(above: bytes, path: bytes) -> bool:
    """Whether ``path`` is the directory ``above`` or lies below it."""
    return not above or path == above or path.startswith(above + b"/")
