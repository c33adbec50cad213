"""Scans directories and compares them with what is known: the truth that events only hint at."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ingestd.discover.approach import Approach, Excluded, Gone, Unknown
from ingestd.discover.difference import Difference
from ingestd.discover.folder import look_at
from ingestd.discover.listing import DirectoryScan, Folder, Listing, Looking, Stopped, holds
from ingestd.discover.root import RootIdentity
from ingestd.discover.rules import FolderRules, Rules, top_rules
from ingestd.model.source import display
from ingestd.ports.known import KnownSources

__all__ = ["DirectoryScan", "ScanRoot", "scan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRoot:
    """A root as its scans need it."""

    path: bytes
    rules: Rules = field(default_factory=Rules)
    identity: RootIdentity | None = None
    """As :func:`~ingestd.discover.root.examine` saw it: a scan that finds another one there removes nothing."""
    follow_links: bool = False
    """Take up links to files and directories of the root itself. A directory reached through a link is not searched
    for further linked directories, so no loop is possible."""
    ignore_inode: bool = False
    """For mounts that give the same file another inode after each mount."""
    submounts: frozenset[bytes] = frozenset()
    """Directories that were mount points at an earlier scan: while one is none, and is empty, nothing in it is gone."""


def scan(
    root: ScanRoot,
    known: KnownSources,
    *,
    directories: Collection[bytes] | None = None,
    deep: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[DirectoryScan]:
    """Scan the whole root or some of its directories, one directory a value.

    Directories that are known and no longer there are yielded too, with all that was known in them as removed, unless
    they lie below one that could not be listed. Memory grows with the largest directory, and by one path for each
    directory that holds sources. The caller may change what is known between two values.

    Parameters
    ----------
    directories
        Where to look; ``None`` scans the root.
    deep
        Whether what is below the ``directories`` is scanned too.
    stop
        Asked at each directory; once true the scan ends early, and what it has not reached is simply not reported.

    Raises
    ------
    ConfigurationError
        When a glob of the rules has no meaning.
    """
    rules = top_rules(root.rules)
    try:
        root_fd = os.open(root.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        yield DirectoryScan(directory=b"", unknown=f"{display(root.path)}: {error.strerror}")
        return
    try:
        yield from _scan_open_root(root, root_fd, known, rules, directories, deep=deep, stop=stop)
    except Stopped:
        return
    finally:
        os.close(root_fd)


def _scan_open_root(
    root: ScanRoot,
    root_fd: int,
    known: KnownSources,
    rules: FolderRules,
    directories: Collection[bytes] | None,
    *,
    deep: bool,
    stop: Callable[[], bool],
) -> Iterator[DirectoryScan]:
    status = os.fstat(root_fd)
    identity = RootIdentity.of(status)
    if root.identity not in (None, identity):
        yield DirectoryScan(directory=b"", unknown=f"{display(root.path)} is another directory than it was")
        return
    top = Folder(path=b"", real=b"", rules=rules, device=status.st_dev)
    looking = Looking(
        root=root.path, root_fd=root_fd, follow_links=root.follow_links, ignore_inode=root.ignore_inode, stop=stop
    )
    walk = _Walk(root=root, looking=looking, known=known, approach=Approach(looking, top), identity=identity)
    if directories is None:
        yield from walk.over((b"",), deep=True)
    else:
        yield from walk.over(_outermost(directories) if deep else tuple(sorted(set(directories))), deep=deep)


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One scan under way."""

    root: ScanRoot
    looking: Looking
    known: KnownSources
    approach: Approach
    identity: RootIdentity
    visited: set[bytes] = field(default_factory=set[bytes])
    """Directories that hold known sources and were seen to."""
    unlisted: set[bytes] = field(default_factory=set[bytes])
    """Directories that could not be listed: of what is below them nothing is known."""
    absent: set[bytes] = field(default_factory=set[bytes])
    """Directories asked for that are gone or excluded: so is what is below them."""

    def over(self, starts: tuple[bytes, ...], *, deep: bool) -> Iterator[DirectoryScan]:
        for start in starts:
            yield from self._from(start, deep=deep)
        searched = starts if deep else tuple(self.absent)
        if not searched:
            return
        # Known, and not come by: gone, excluded by now, or moved while the scan was under way.
        left = [d for d in self.known.directories() if d not in self.visited and _below_any(searched, d)]
        for directory in left:
            if not _below_any(self.unlisted, directory):
                yield from self._from(directory, deep=False)

    def _from(self, start: bytes, *, deep: bool) -> Iterator[DirectoryScan]:
        reached = self.approach.to(start)
        if not isinstance(reached, Folder):
            yield from self._unreached(start, reached)
            return
        pending = [reached]
        while pending:
            folder = pending.pop()
            listing = self._look(folder)
            if deep:
                pending.extend(reversed(listing.folders))
            if not listing.missing or listing.scan.difference.removed:
                yield listing.scan

    def _look(self, folder: Folder) -> Listing:
        if self.looking.stop():
            raise Stopped
        known = self.known.in_directory(folder.path)
        listing = look_at(self.looking, folder, known)
        doubt = self._doubt(listing)
        if doubt is not None:
            listing = Listing(scan=DirectoryScan(directory=folder.path, unknown=doubt))
        if listing.scan.unknown is not None:
            self.unlisted.add(folder.path)
        elif listing.missing:
            self.absent.add(folder.path)
        # Those added count too: the caller may have made them known by the time that the rest is looked for.
        if known or listing.scan.difference.added:
            self.visited.add(folder.path)
        return listing

    def _unreached(self, directory: bytes, why: Gone | Excluded | Unknown) -> Iterator[DirectoryScan]:
        if isinstance(why, Unknown):
            if why.directory not in self.unlisted:
                self.unlisted.add(why.directory)
                yield DirectoryScan(directory=why.directory, unknown=why.reason)
            return
        self.absent.add(directory)
        known = self.known.in_directory(directory)
        if not known:
            return
        self.visited.add(directory)
        if isinstance(why, Excluded):
            yield DirectoryScan(directory=directory, excluded=tuple(sorted(known)))
        elif self._root_stands():
            yield DirectoryScan(directory=directory, difference=Difference(removed=dict(known)))

    def _doubt(self, listing: Listing) -> str | None:
        """Why what a listing lacks must not count as removed."""
        directory = listing.scan.directory
        if listing.empty and directory in self.root.submounts and not listing.scan.submount:
            return "nothing is mounted there now"
        if listing.empty and not directory and self.known.count():
            return f"{display(self.root.path)} is empty"
        if listing.scan.difference.removed and not self._root_stands():
            return f"{display(self.root.path)} went away during the scan"
        return None

    def _root_stands(self) -> bool:
        try:
            return RootIdentity.of(os.stat(self.root.path)) == self.identity  # noqa: PTH116  # a Path holds no bytes
        except OSError:
            return False


def _outermost(directories: Iterable[bytes]) -> tuple[bytes, ...]:
    """Those of the directories that lie below none of the others, sorted."""
    wanted = set(directories)
    return tuple(sorted(d for d in wanted if not any(above in wanted for above in _above(d))))


def _below_any(directories: Collection[bytes], path: bytes) -> bool:
    if len(directories) <= 3:
        return any(holds(directory, path) for directory in directories)
    return path in directories or any(above in directories for above in _above(path))


def _above(path: bytes) -> Iterator[bytes]:
    while path:
        path = path.rpartition(b"/")[0]
        yield path
