"""Finds the mounts at and below a root that no event comes from."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")
_WITHOUT_EVENTS = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|9p|virtiofs|ceph|lustre|gpfs|glusterfs|beegfs|ocfs2|gfs2|coda|vboxsf|vmhgfs"
    r"|prl_fs|davfs|fuse(\..*)?|fakeowner|osxfs"
)
"""Types whose files change without this kernel doing it: inotify sees only what this machine writes."""
_ESCAPED = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One mounted file system that holds a root or part of it."""

    path: bytes
    """Of its top relative to the root; ``b""`` for the one that holds the root itself."""
    type: str
    """As the kernel names it, such as ``ext4`` or ``fuse.sshfs``."""
    needs_polling: bool


def mounts(root: bytes) -> tuple[Mount, ...]:
    """Mounts that hold the root and what is below it, by path; empty where the system does not tell."""
    try:
        table = _TABLE.read_bytes()
    except OSError:
        return ()
    return mounts_in(table, os.path.realpath(root))


def mounts_in(table: bytes, root: bytes) -> tuple[Mount, ...]:
    """The mounts at and below ``root``, an absolute path without links, in a table in the form of ``mountinfo``."""
    below = root.rstrip(b"/") + b"/"
    holding: tuple[bytes, str] = (b"", "")
    types: dict[bytes, str] = {}
    for line in table.splitlines():
        before, _, after = line.partition(b" - ")
        fields, kinds = before.split(b" "), after.split(b" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = _ESCAPED.sub(lambda octal: bytes((int(octal[1], 8),)), fields[4])
        kind = kinds[0].decode("ascii", "replace")
        # A later line hides an earlier one at the same place.
        if point.startswith(below):
            types[point[len(below) :]] = kind
        elif below.startswith(point.rstrip(b"/") + b"/") and len(point) >= len(holding[0]):
            holding = (point, kind)
    if holding[0]:
        types[b""] = holding[1]
    return tuple(
        Mount(path=path, type=kind, needs_polling=_WITHOUT_EVENTS.fullmatch(kind) is not None)
        for path, kind in sorted(types.items())
    )
