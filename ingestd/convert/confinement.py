"""What a converter's process may use."""

import os
import resource
import sys
from pathlib import Path

from ingestd.convert.seccomp import deny_network

SCRATCH = "TMPDIR"
"""Variable that names a process's private folder, emptied after each document."""
FILE_BYTES = 1024 * 1024 * 1024
"""Largest file that a converter may write, in its private folder."""
OPEN_FILES = 256
_OOM_SCORE = "900"


def confine(memory_bytes: int) -> bool:
    """Limit this process for the rest of its life; say whether the network is denied.

    Parameters
    ----------
    memory_bytes
        Bound on its address space: beyond it allocations fail, and native code aborts.
    """
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _die_first()
    return deny_network()


def resident_bytes() -> int:
    """Resident memory of this process now; 0 where it cannot be told."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def address_space_bytes(pid: int) -> int:
    """Address space that the process has had at most so far; 0 where it cannot be told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmPeak:")), 0)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(which, (bound, bound))
    except (OSError, ValueError):
        # macOS knows RLIMIT_AS and refuses to set it: the deadline is then the only bound.
        return


def _die_first() -> None:
    """Have the kernel choose this process, not the daemon, when memory runs out."""
    if sys.platform == "linux":
        try:
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
        except OSError:
            return
