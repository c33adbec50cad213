"""Where the control socket of a state is.

The address of a Unix socket holds some hundred bytes, a path four thousand. On Linux a deep state directory is
addressed through a descriptor of it, so that the socket is always in the state directory, whatever the environment of
the two sides is (a service has no ``XDG_RUNTIME_DIR`` and may have a ``/tmp`` of its own). Elsewhere a deep state
directory has its socket in a private folder below ``/tmp``.
"""

import hashlib
import os
import socket
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ingestd.errors import StateLocked, StateUnusable
from ingestd.failpoints import failpoint

SOCKET_NAME = "control.sock"
ADDRESS_BYTES = 100
"""Longest address used as it is: sun_path has 108 bytes on Linux, 104 on macOS and the BSDs."""
_BACKLOG = 64
_BY_DESCRIPTOR = sys.platform == "linux"


def socket_path(state_dir: Path, *, by_descriptor: bool = _BY_DESCRIPTOR) -> Path:
    """Path of the state's control socket: the same for the owner and for whoever asks it.

    Parameters
    ----------
    by_descriptor
        Whether this system can address a socket through a descriptor of its directory.
    """
    path = state_dir / SOCKET_NAME
    if by_descriptor or len(os.fsencode(path)) <= ADDRESS_BYTES:
        return path
    # The owner of the directory, not the caller: root asks the daemon of another user.
    uid = state_dir.stat().st_uid if state_dir.exists() else os.geteuid()
    digest = hashlib.sha256(os.fsencode(os.path.realpath(state_dir))).hexdigest()
    return Path(f"/tmp/ingestd-{uid}") / f"{digest[:16]}.sock"  # noqa: S108  made private, its owner is verified


def bound(path: Path, mode: int) -> socket.socket:
    """Listening socket at the path; the file of an owner that died is replaced.

    Raises
    ------
    StateLocked
        Somebody listens there.
    StateUnusable
        The path is no socket, or its directory is missing, not ours or not writable.
    """
    if path.name != SOCKET_NAME:
        make_private(path.parent)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        with _address(path) as address:
            listener.bind(address)
        # Between bind and listen a connection is refused, so nobody gets in before the mode is set.
        path.chmod(mode)
        failpoint("control.bound")
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise StateUnusable(f"the control socket {path} cannot be made: {error}") from error
    except BaseException:
        listener.close()
        raise
    return listener


def connected(path: Path, timeout_seconds: float | None) -> socket.socket:
    """Connection to whoever listens at the path.

    Raises
    ------
    OSError
        As connect(2) says: missing, refused, or the backlog is full.
    StateUnusable
        The folder of a short path is not private to its owner.
    """
    if path.name != SOCKET_NAME:
        check_private(path.parent)
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        channel.settimeout(timeout_seconds)
        with _address(path) as address:
            channel.connect(address)
    except BaseException:
        channel.close()
        raise
    return channel


def make_private(folder: Path) -> None:
    """Make the folder for its owner alone, or verify that it is so.

    Raises
    ------
    StateUnusable
        It is a link, somebody else's, or open to others.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    check_private(folder)


def check_private(folder: Path) -> None:
    """Verify that the folder, in a place where anybody can make one, is its owner's alone.

    Raises
    ------
    FileNotFoundError
        There is none.
    StateUnusable
        It is a link, somebody else's, or open to others.
    """
    found = folder.lstat()
    expected = int(folder.name.rpartition("-")[2])
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != expected or found.st_mode & 0o077:
        raise StateUnusable(
            f"{folder} must be a directory of user {expected} with mode 0700, but is of user {found.st_uid} with mode "
            f"{stat.filemode(found.st_mode)}: remove it, or give a state directory with a shorter path"
        )


@contextmanager
def _address(path: Path) -> Generator[str]:
    if len(os.fsencode(path)) <= ADDRESS_BYTES:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


def _remove_stale(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise StateUnusable(f"{path} is in the way of the control socket: move it elsewhere")
    try:
        connected(path, 1.0).close()
    except (ConnectionRefusedError, FileNotFoundError):
        path.unlink(missing_ok=True)
    else:
        raise StateLocked(f"a process already listens on {path}: stop it, or name another state with --state-dir")
