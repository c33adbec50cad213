"""Opens paths below a directory without following a link.

On Linux one ``openat2`` asks the kernel to refuse every link and every way out; elsewhere, and where a sandbox forbids
the call, the path is opened component by component. Both refuse a link swapped in at any moment.
"""

import ctypes
import errno
import functools
import os
import stat
import sys

_OPENAT2 = 437
"""The number of the system call, the same on every architecture."""
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_NEVER = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(root_fd: int, path: bytes, flags: int = os.O_RDONLY) -> int:
    """Open ``path`` below the directory ``root_fd``, never blocking on a FIFO.

    Parameters
    ----------
    path
        Relative, parts joined by ``/``; ``b""`` is the directory itself.

    Returns
    -------
    int
        A new descriptor, closed on exec; the caller closes it.

    Raises
    ------
    OSError
        ``ELOOP`` where a part is a link, ``EXDEV`` where the path would leave the directory, otherwise what the file
        system says.
    """
    if path.startswith(b"/") or b".." in path.split(b"/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    if b"\0" in path:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    if path and b"/" not in path:
        return _open_part(root_fd, path, flags)
    if kernel_resolves() and len(path) < 4096:
        return _open_by_kernel(root_fd, path or b".", flags | _NEVER)
    return open_by_parts(root_fd, path, flags)


def resolve_inside(root: bytes, path: bytes) -> bytes | None:
    """Path, relative to the root and free of links, of what ``path`` leads to.

    Returns
    -------
    bytes or None
        ``None`` where it leads out of the root, in a circle, or to nothing.
    """
    top = os.path.realpath(root)
    try:
        real = os.path.realpath(top + b"/" + path, strict=True)
    except OSError:
        return None
    if real == top:
        return b""
    prefix = top if top.endswith(b"/") else top + b"/"
    return real[len(prefix) :] if real.startswith(prefix) else None


@functools.cache
def kernel_resolves() -> bool:
    """Whether the kernel offers ``openat2`` to this process; a sandbox may forbid it."""
    if sys.platform != "linux":
        return False
    here = os.open(b"/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_open_by_kernel(here, b".", os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        os.close(here)
    return True


def open_by_parts(root_fd: int, path: bytes, flags: int = os.O_RDONLY) -> int:
    """:func:`open_beneath` for paths of any length, by one open a component."""
    parts = path.split(b"/") if path else [b"."]
    current = root_fd
    try:
        for part in parts[:-1]:
            current = _step(current, part, os.O_RDONLY | os.O_DIRECTORY, above=root_fd)
        return _open_part(current, parts[-1], flags)
    finally:
        if current != root_fd:
            os.close(current)


def _step(current: int, part: bytes, flags: int, *, above: int) -> int:
    below = _open_part(current, part, flags)
    if current != above:
        os.close(current)
    return below


def _open_part(directory: int, part: bytes, flags: int) -> int:
    try:
        return os.open(part, flags | _NEVER, dir_fd=directory)
    except OSError as error:
        # A link opened with O_DIRECTORY and O_NOFOLLOW is "not a directory" to Linux: say what it is.
        if error.errno == errno.ENOTDIR and _is_link(directory, part):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part) from error
        raise


def _is_link(directory: int, part: bytes) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _open_by_kernel(root_fd: int, path: bytes, flags: int) -> int:
    # With O_NOFOLLOW a link at the end would be "not a directory" instead of a link.
    how = _OpenHow(flags & ~os.O_NOFOLLOW, 0, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)
    while True:
        descriptor: int = _system_call()(_OPENAT2, root_fd, path, ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number not in (errno.EINTR, errno.EAGAIN):
            raise OSError(number, os.strerror(number), path)


@functools.cache
def _system_call() -> "ctypes._NamedFuncPointer":  # pyright: ignore[reportPrivateUsage]  # the stubs name it so
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call
