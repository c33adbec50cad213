"""No network, no tracing, no mounting for this process, by a seccomp filter (Linux on x86-64 and AArch64)."""

import ctypes
import errno
import platform
import struct
import sys
from collections.abc import Mapping

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_MODE_FILTER = 2
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000 | errno.EPERM
_LOAD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_GREATER_EQUAL = 0x35
_RETURN = 0x06
_OFFSET_NUMBER = 0
_OFFSET_ARCHITECTURE = 4
_X32_BIT = 0x40000000

_NAMES = (
    *("socket", "connect", "ptrace", "mount", "unshare", "setns", "keyctl", "bpf", "io_uring_setup"),
    *("process_vm_readv", "process_vm_writev"),
)
_NUMBERS: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (0xC000003E, (41, 42, 101, 165, 272, 308, 250, 321, 425, 310, 311)),
    "aarch64": (0xC00000B7, (198, 203, 117, 40, 97, 268, 219, 280, 425, 270, 271)),
}
"""Audit number of the architecture, and the numbers of :data:`_NAMES` on it (kernel headers)."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def deny_network() -> bool:
    """Make the listed calls fail with EPERM in this process and all it starts; say whether that holds.

    Sockets open already go on working. False where the platform has no such filter, or refuses it.
    """
    known = _NUMBERS.get(platform.machine())
    if sys.platform != "linux" or known is None:
        return False
    architecture, numbers = known
    assert len(numbers) == len(_NAMES)
    code = _filter(architecture, numbers)
    instructions = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(instructions, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _filter(architecture: int, numbers: tuple[int, ...]) -> bytes:
    """The filter's instructions: another architecture and the listed numbers are refused, all else is allowed."""
    count = len(numbers)
    lines = [
        (_LOAD_WORD, 0, 0, _OFFSET_ARCHITECTURE),
        (_JUMP_EQUAL, 0, count + 3, architecture),
        (_LOAD_WORD, 0, 0, _OFFSET_NUMBER),
        (_JUMP_GREATER_EQUAL, count + 1, 0, _X32_BIT),
        *((_JUMP_EQUAL, count - index, 0, number) for index, number in enumerate(numbers)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
