"""The lock that makes one process the owner of a state directory.

The lock is a ``flock`` on ``<state>/lock``: the kernel lets go of it when the owner dies, however it dies. The file
is never removed, because two processes could then each lock a file of that name; what is written in it is for people.
"""

import ctypes
import errno
import fcntl
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestd.errors import StateLocked, StateUnusable
from ingestd.failpoints import failpoint

LOCK_NAME = "lock"
_LOOK_SECONDS = 0.1
"""Pause between two tries: a dead owner's lock is taken at once by a human's measure, at no cost worth naming."""
_NETWORK = {0x6969: "NFS", 0x517B: "SMB", 0xFF534D42: "CIFS", 0xFE534D42: "SMB2"}
"""``f_type`` of statfs(2) for the file systems on which SQLite's shared memory does not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who wrote the lock file last: for messages, never for decisions."""

    pid: int
    since: str
    """Start of the ownership, UTC, ISO 8601."""
    command: str = ""
    """What it owns the state for, such as ``sync``; empty where it did not say."""

    def __str__(self) -> str:
        doing = f"`ingestd {self.command}`, " if self.command else ""
        return f"process {self.pid} ({doing}since {self.since})"


class StateLock:
    """Exclusive ownership of one state directory, from :meth:`acquire` to :meth:`release` or the process's end.

    The descriptor is close-on-exec: no child can keep the lock of a dead owner.

    Parameters
    ----------
    directory
        The state directory; made, readable by its owner alone, when it is missing.
    command
        What the state is owned for, written into the file.
    filesystem_type
        Gives ``f_type`` of the file system that holds a path, 0 where it cannot be known.
    """

    def __init__(
        self, directory: Path, *, command: str = "", filesystem_type: Callable[[Path], int] | None = None
    ) -> None:
        self.path = directory / LOCK_NAME
        self._command = command
        self._filesystem_type = filesystem_type or statfs_type
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self, wait_seconds: float, stop: threading.Event) -> Self:
        """Take the lock, waiting for its holder to leave.

        Parameters
        ----------
        wait_seconds
            How long to wait; 0 tries once.
        stop
            Ends the waiting early.

        Raises
        ------
        StateLocked
            Somebody else still holds it; the message names the process.
        StateUnusable
            The directory cannot be made or written, or lies on a network file system.
        """
        if self.held:
            return self
        self._check_directory()
        deadline = time.monotonic() + wait_seconds
        while not self._try():
            left = deadline - time.monotonic()
            if left <= 0 or stop.wait(min(left, _LOOK_SECONDS)):
                waited = "the waiting was interrupted" if stop.is_set() else f"waited {wait_seconds:g} s"
                raise StateLocked(refusal(self.path.parent, waited))
        return self

    def release(self) -> None:
        """Let go of the lock; harmless when it is not held."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _check_directory(self) -> None:
        directory = self.path.parent
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StateUnusable(_cannot_use(directory, error)) from error
        network = network_name(self._filesystem_type(directory))
        if network is not None:
            raise StateUnusable(
                f"the state directory {directory} is on {network}, where SQLite's locks and shared memory do not work: "
                "give a directory on a local disk with --state-dir"
            )

    def _try(self) -> bool:
        descriptor = self._open()
        taken = _flock(descriptor) and _is_still(descriptor, self.path)
        if not taken:
            os.close(descriptor)
            return False
        failpoint("lock.taken")
        self._descriptor = descriptor
        note = f"pid {os.getpid()}\nsince {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\ncommand {self._command}\n"
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, note.encode("ascii"), 0)
        except OSError as error:
            # A full disk must not keep the owner out: it is the owner who frees space.
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                self.release()
                raise StateUnusable(_cannot_use(self.path, error)) from error
        return True

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StateUnusable(_cannot_use(self.path, error)) from error


def refusal(directory: Path, waited: str) -> str:
    """Message for people: who owns the state, and for what."""
    who = read_holder(directory) or "another process"
    return (
        f"the state {directory} is owned by {who}; {waited}: stop it, wait for it, or name another state with "
        "--state-dir"
    )


def read_holder(directory: Path) -> Holder | None:
    """What the lock file says of its last holder, dead or alive; ``None`` when it says nothing."""
    try:
        lines = (directory / LOCK_NAME).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    fields: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(" ")
        fields[key] = value
    pid = fields.get("pid", "")
    if not pid.isdecimal():
        return None
    return Holder(pid=int(pid), since=fields.get("since", "unknown"), command=fields.get("command", ""))


def present_holder(directory: Path) -> Holder | None:
    """Who owns the state now; ``None`` when nobody does, or it cannot be looked at.

    Looking takes a shared lock for a moment, in which somebody else's try fails: owners try again.
    """
    try:
        descriptor = os.open(directory / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return read_holder(directory)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None


def network_name(filesystem_type: int) -> str | None:
    """Name of the network file system of that ``f_type`` on which a state cannot live, if it is one."""
    # The kernel's field is signed: on 32 bits the two SMB numbers come out negative.
    return _NETWORK.get(filesystem_type & 0xFFFFFFFF)


def statfs_type(path: Path) -> int:
    """``f_type`` of the file system that holds the path; 0 where it cannot be known."""
    if sys.platform != "linux":
        return 0
    # The structure is 120 bytes on 64-bit Linux and begins with f_type, a long; the room is ample on purpose.
    room = ctypes.create_string_buffer(512)
    if ctypes.CDLL(None, use_errno=True).statfs(os.fsencode(path), room) != 0:
        return 0
    return ctypes.c_long.from_buffer(room).value


def _flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
            return False
        os.close(descriptor)
        raise StateUnusable(f"the file system of the state has no locks ({error}): use a local disk") from error
    return True


def _is_still(descriptor: int, path: Path) -> bool:
    """Whether the path still names the file that was locked: it may have been removed in between."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _cannot_use(path: Path, error: OSError) -> str:
    return f"the state at {path} cannot be used ({error.strerror}): mend its permissions, or name another --state-dir"
