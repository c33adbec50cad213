"""What a watch says of itself."""

import errno
from dataclasses import dataclass
from pathlib import Path

_SETTINGS = Path("/proc/sys/fs/inotify")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Every directory is watched."""

    directories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """Some directories are not watched: only scans find what changes there."""

    watched: int
    directories: int
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    """The kernel grants no watch at all: only scans find what changes."""

    reason: str
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """No event arrives any more: restart the watch."""

    reason: str


WatchHealth = Watching | Degraded | Polling | Broken


def refusal(error: OSError) -> Polling | Broken:
    """What an error at the start of a watch means."""
    match error.errno:
        case errno.ENOSPC:
            return Polling(reason="the limit on inotify watches is reached", way_out=way_out("max_user_watches", 0))
        case errno.EMFILE | errno.ENFILE:
            reason = "the limit on inotify instances or open files is reached"
            return Polling(reason=reason, way_out=way_out("max_user_instances", 0))
        case errno.ENOSYS | errno.EPERM:
            return Polling(reason="this system allows no inotify", way_out="allow inotify in the sandbox")
        case _:
            return Broken(reason=error.strerror or str(error))


def way_out(setting: str, needed: int) -> str:
    """Command that raises an inotify limit far enough.

    Parameters
    ----------
    setting
        ``max_user_watches`` or ``max_user_instances``.
    needed
        How many are needed on top of those in use.
    """
    try:
        limit = int((_SETTINGS / setting).read_text("ascii"))
    except (OSError, ValueError):
        limit = 8192
    return f"sysctl -w fs.inotify.{setting}={max(2 * limit, limit + 2 * needed)}"
