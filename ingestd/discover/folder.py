"""Lists one directory and compares it with what is known of it."""

import errno
import os
import stat
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingestd.beneath import open_beneath, resolve_inside
from ingestd.discover.difference import Difference, difference
from ingestd.discover.listing import ABSENT, DirectoryScan, Folder, Listing, Looking, Stopped, holds
from ingestd.discover.rules import RULES_FILE, RULES_FILE_BYTES, FolderRules, Ignored
from ingestd.model.source import Signature

_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
"""With which :mod:`os` made names of bytes; :func:`os.fsencode` does the same in three times the time."""
_ENTRIES_BETWEEN_STOPS = 2048
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


def look_at(looking: Looking, folder: Folder, known: Mapping[bytes, Signature | None]) -> Listing:
    """List the directory.

    Raises
    ------
    Stopped
        When ``looking.stop`` says so.
    """
    try:
        fd = open_beneath(looking.root_fd, folder.real, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return _not_opened(folder, known, error)
    try:
        with os.scandir(fd) as entries:
            listed = list(entries)
        rules, bad = own_rules(fd, folder.rules)
        view = _View(looking, folder, fd, rules, known, device=os.fstat(fd).st_dev)
        for start in range(0, len(listed), _ENTRIES_BETWEEN_STOPS):
            if start and looking.stop():
                raise Stopped
            view.take(listed[start : start + _ENTRIES_BETWEEN_STOPS])
        view.unusual.extend((RULES_FILE, message) for message in bad)
        return Listing(scan=view.result(), folders=tuple(view.folders), empty=not listed)
    except OSError as error:
        return Listing(scan=DirectoryScan(directory=folder.path, unknown=_reason(error)))
    finally:
        os.close(fd)


def own_rules(directory_fd: int, rules: FolderRules) -> tuple[FolderRules, tuple[str, ...]]:
    """Rules with those of the directory's ``.ingestignore`` added, when it has one, with its lines that mean nothing.

    Raises
    ------
    OSError
        When it cannot be read: what the directory's owner wants is not known then.
    """
    try:
        fd = open_beneath(directory_fd, RULES_FILE)
    except OSError as error:
        if error.errno in ABSENT:
            return rules, ()
        raise
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return rules, ("is no regular file",)
        content = file.read(RULES_FILE_BYTES + 1)
    if len(content) > RULES_FILE_BYTES:
        raise OSError(errno.EFBIG, f"its .ingestignore is over {RULES_FILE_BYTES} bytes")
    return rules.reading(content)


def _not_opened(folder: Folder, known: Mapping[bytes, Signature | None], error: OSError) -> Listing:
    if error.errno not in ABSENT:
        return Listing(scan=DirectoryScan(directory=folder.path, unknown=_reason(error)))
    return Listing(scan=DirectoryScan(directory=folder.path, difference=Difference(removed=dict(known))), missing=True)


@dataclass(slots=True)
class _View:
    """What is gathered of one directory."""

    looking: Looking
    folder: Folder
    fd: int
    rules: FolderRules
    known: Mapping[bytes, Signature | None]
    device: int
    seen: dict[bytes, Signature] = field(default_factory=dict[bytes, Signature])
    folders: list[Folder] = field(default_factory=list[Folder])
    excluded: list[bytes] = field(default_factory=list[bytes])
    unusual: list[tuple[bytes, str]] = field(default_factory=list[tuple[bytes, str]])
    uncertain: set[bytes] = field(default_factory=set[bytes])
    """Known names that could not be examined."""
    reasons: Counter[str] = field(default_factory=Counter[str])

    def take(self, entries: "list[os.DirEntry[str]]") -> None:
        """Take in entries. The loop is one piece because it runs for each file of a root at each scan."""
        verdict, known, seen = self.rules.verdict, self.known, self.seen
        for entry in entries:
            name = entry.name.encode(_ENCODING, _ERRORS)
            try:
                if not entry.is_file(follow_symlinks=False):
                    self._take_other(name, entry)
                    continue
                said = verdict(name, is_directory=False)
                if isinstance(said, Ignored):
                    self._leave_out(name, said)
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                self._doubt(name, error)
                continue
            before = known.get(name)
            # Nearly every file is unchanged: comparing four numbers is cheaper than making a value of them.
            if (
                before is not None
                and before.ctime_ns == status.st_ctime_ns
                and before.mtime_ns == status.st_mtime_ns
                and before.size == status.st_size
                and before.inode == status.st_ino
            ):
                seen[name] = before
            else:
                self._take_status(name, status)

    def result(self) -> DirectoryScan:
        known = self.known
        if not known.keys() <= self.seen.keys():
            absent = known.keys() - self.seen.keys() - set(self.excluded)
            outside = {name for name in absent if name in self.uncertain or self._came_back(name)}.union(self.excluded)
            known = {name: signature for name, signature in known.items() if name not in outside}
        return DirectoryScan(
            directory=self.folder.path,
            difference=difference(known, self.seen, ignore_inode=self.looking.ignore_inode),
            excluded=tuple(sorted(self.excluded)),
            ignored=self.reasons.total(),
            ignored_reasons=tuple(sorted(self.reasons.items())),
            unusual=tuple(sorted(self.unusual)),
            submount=self.device != self.folder.device,
        )

    def _wanted(self, name: bytes) -> bool:
        verdict = self.rules.verdict(name, is_directory=False)
        if isinstance(verdict, Ignored):
            self._leave_out(name, verdict)
        return not isinstance(verdict, Ignored)

    def _leave_out(self, name: bytes, verdict: Ignored) -> None:
        self.reasons[verdict.reason] += 1
        if name in self.known:
            self.excluded.append(name)

    def _doubt(self, name: bytes, error: OSError) -> None:
        if error.errno not in ABSENT:
            self.uncertain.add(name)
            self.unusual.append((name, _reason(error)))

    def _take_other(self, name: bytes, entry: "os.DirEntry[str]") -> None:
        if entry.is_symlink():
            self._take_link(name)
        elif entry.is_dir(follow_symlinks=False):
            self._take_directory(name, self._below(self.folder.real, name), linked=self.folder.linked)
        elif self._wanted(name):
            self._take_status(name, entry.stat(follow_symlinks=False))

    def _take_directory(self, name: bytes, real: bytes, *, linked: bool) -> None:
        verdict = self.rules.verdict(name, is_directory=True)
        if isinstance(verdict, Ignored):
            self.reasons[verdict.reason] += 1
            return
        path = self._below(self.folder.path, name)
        rules = self.rules.enter(path)
        self.folders.append(Folder(path=path, real=real, linked=linked, rules=rules, device=self.device))

    def _take_status(self, name: bytes, status: os.stat_result) -> None:
        if stat.S_ISREG(status.st_mode):
            self.seen[name] = Signature.of(status)
        else:
            self.unusual.append((name, _KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")))

    def _take_link(self, name: bytes) -> None:
        if not self.looking.follow_links:
            if self._wanted(name):
                self.unusual.append((name, "a link; `follow_links` is off"))
            return
        target = resolve_inside(self.looking.root, self._below(self.folder.real, name))
        if target is None:
            if self._wanted(name):
                self.unusual.append((name, "a link that leaves the root or leads nowhere"))
            return
        status = os.stat(target or b".", dir_fd=self.looking.root_fd, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            if self._wanted(name):
                self._take_status(name, status)
        elif self.folder.linked or holds(target, self.folder.real):
            self.unusual.append((name, "a link to a directory, in a linked directory or to one above itself"))
        else:
            self._take_directory(name, target, linked=True)

    def _came_back(self, name: bytes) -> bool:
        """Whether a known name that the listing lacks is there after all: a listing may miss a name that is replaced."""
        try:
            status = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError as error:
            return error.errno not in ABSENT
        return stat.S_ISREG(status.st_mode)

    @staticmethod
    def _below(directory: bytes, name: bytes) -> bytes:
        return directory + b"/" + name if directory else name


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
