"""Says why a path is no source of a root."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence

from ingestd.beneath import open_beneath
from ingestd.discover.approach import Approach, Excluded, Unknown
from ingestd.discover.folder import look_at, own_rules
from ingestd.discover.listing import Folder, Looking
from ingestd.discover.rules import RULES_FILE, RULES_FILE_BYTES, FolderRules, Ignored, Rules, top_rules
from ingestd.errors import ConfigurationError
from ingestd.model.source import display
from ingestd.pipeline.parts import Parts, RootPlan

_EXCLUDE = "in `exclude`"
_TYPE = "unsupported type"
_MEANT = {
    "not in `include`": "no pattern of `include` matches it",
    "temporary name": "its name is that of a temporary file",
    "hidden name": "its name is hidden; a line `!NAME` of an .ingestignore lets it in",
}
_NOT_SEEN = "no scan has seen it yet: `ingestd sync` does"


def why_unknown(parts: Parts, path: str, root: str | None = None) -> str:
    """Why no root, or not the one named, has a source at the path: absolute, or relative to a root."""
    plans = [plan for plan in parts.roots.values() if root in (None, plan.name)]
    places = tuple(_places(plans, os.fsencode(path)))
    for plan, below in places:
        if os.path.lexists(plan.row.path.rstrip(b"/") + b"/" + below):
            return f"the root {plan.name!r} does not take it: {why_left_out(plan, below)}"
    if path.startswith("/") and places:
        return f"nothing is there below the root {places[0][0].name!r}"
    return "no root knows it: `ingestd status` lists the roots"


def why_left_out(plan: RootPlan, path: bytes) -> str:
    """Why the root has no source at the path, relative to it; what decides is asked what a scan asks."""
    try:
        root_fd = os.open(plan.row.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return f"the root cannot be opened ({error.strerror})"
    try:
        return _Looked(plan, root_fd).at(path)
    except OSError as error:
        return f"it cannot be examined ({error.strerror})"
    finally:
        os.close(root_fd)


class _Looked:
    """One look along a path."""

    def __init__(self, plan: RootPlan, root_fd: int) -> None:
        self._plan = plan
        self._root_fd = root_fd
        self._looking = Looking(
            root=plan.row.path, root_fd=root_fd, follow_links=plan.follow_links, ignore_inode=False, stop=lambda: False
        )
        top = Folder(path=b"", real=b"", rules=top_rules(plan.rules), device=os.fstat(root_fd).st_dev)
        self._approach = Approach(self._looking, top)

    def at(self, path: bytes) -> str:
        above, folder = b"", self._approach.to(b"")
        for name in path.split(b"/"):
            if not isinstance(folder, Folder):
                break
            above, outer = _joined(above, name), folder
            if above == path:
                return self._entry(outer, name)
            folder = self._approach.to(above)
            if isinstance(folder, Excluded):
                return f"the folder {display(above)}: {self._rule(outer, name, is_directory=True)}"
            if isinstance(folder, Unknown):
                return f"the folder {display(folder.directory)} cannot be examined ({folder.reason})"
        return f"the folder {display(above)} is a link that is not followed, or not there"

    def _entry(self, folder: Folder, name: bytes) -> str:
        mode = os.lstat(_joined(self._plan.row.path.rstrip(b"/"), _joined(folder.real, name))).st_mode
        if stat.S_ISDIR(mode):
            verdict = self._rules(folder).verdict(name, is_directory=True)
            return self._rule(folder, name, is_directory=True) if isinstance(verdict, Ignored) else "it is a folder"
        if stat.S_ISLNK(mode) and not self._plan.follow_links:
            return "it is a link; `follow_links` is off"
        scanned = look_at(self._looking, folder, {}).scan
        for unusual, reason in scanned.unusual:
            if unusual == name:
                return f"it is {reason}"
        return self._rule(folder, name, is_directory=False)

    def _rule(self, folder: Folder, name: bytes, *, is_directory: bool) -> str:
        verdict = self._rules(folder).verdict(name, is_directory=is_directory)
        if not isinstance(verdict, Ignored):
            return _NOT_SEEN
        if verdict.reason == _TYPE:
            suffix = display(os.path.splitext(name)[1])  # noqa: PTH122  a path in bytes
            return f"nothing that is installed reads files {f'of type {suffix}' if suffix else 'without a suffix'}"
        line = self._line(folder, name, verdict.reason, is_directory=is_directory)
        return f"{verdict.reason}: {line}" if line else _MEANT.get(verdict.reason, verdict.reason)

    def _rules(self, folder: Folder) -> FolderRules:
        fd = open_beneath(self._root_fd, folder.real, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return own_rules(fd, folder.rules)[0]
        finally:
            os.close(fd)

    def _line(self, folder: Folder, name: bytes, reason: str, *, is_directory: bool) -> str | None:
        if reason == _EXCLUDE:
            return _deciding(self._plan.rules.exclude, folder.path, name, is_directory=is_directory)
        for directory in _upwards(folder.path):
            file = _joined(directory, RULES_FILE)
            if reason == f"in {display(file)}":
                below = folder.path.removeprefix(directory).lstrip(b"/")
                with os.fdopen(open_beneath(self._root_fd, file), "rb") as opened:
                    text = opened.read(RULES_FILE_BYTES).removeprefix(b"\xef\xbb\xbf")
                lines = text.decode("utf-8", "surrogateescape").splitlines()
                return _deciding(lines, below, name, is_directory=is_directory)
        return None


def _deciding(lines: Sequence[str], directory: bytes, name: bytes, *, is_directory: bool) -> str | None:
    """The last line that matches by itself: it is what leaves the name out."""
    for line in reversed(lines):
        try:
            alone = top_rules(Rules(exclude=(line,))).enter(directory)
        except ConfigurationError:
            continue
        verdict = alone.verdict(name, is_directory=is_directory)
        if isinstance(verdict, Ignored) and verdict.reason == _EXCLUDE:
            return f"`{display(os.fsencode(line.strip()))}`"
    return None


def _places(plans: Iterable[RootPlan], path: bytes) -> Iterator[tuple[RootPlan, bytes]]:
    for plan in plans:
        top = plan.row.path.rstrip(b"/") + b"/"
        if not path.startswith(b"/") or path.startswith(top):
            below = path.removeprefix(top).strip(b"/")
            if below and b".." not in below.split(b"/"):
                yield plan, below


def _upwards(directory: bytes) -> Iterator[bytes]:
    while directory:
        yield directory
        directory = directory.rpartition(b"/")[0]
    yield b""


def _joined(directory: bytes, name: bytes) -> bytes:
    return directory + b"/" + name if directory else name
