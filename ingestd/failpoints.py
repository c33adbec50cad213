"""Named places at which a test can kill the process.

Every input/output boundary calls :func:`failpoint`. Unarmed it costs one comparison. A process arms its
failpoints once, at start, from what its ``main`` hands to :func:`arm`; child processes do the same.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

VARIABLE = "INGESTD_FAILPOINT"
TRACE_VARIABLE = "INGESTD_FAILPOINT_TRACE"


@dataclass(slots=True)
class _Armed:
    name: str
    nth: int
    trace: str
    reached: Callable[[str], None] | None
    hits: Counter[str] = field(default_factory=Counter)


_armed: _Armed | None = None


def arm(specification: str, trace: str = "", reached: Callable[[str], None] | None = None) -> None:
    """Arm the process.

    Parameters
    ----------
    specification
        ``NAME:NTH``: the process kills itself (SIGKILL) at the NTH time it reaches NAME, 1-based; ``*:NTH`` counts
        every failpoint. Empty: nothing is killed.
    trace
        A file to which each name reached is appended, a line each. Empty: no trace.
    reached
        Called with each name reached, in the thread that reached it; what it raises goes through, so that a test can
        end an attempt without ending the process.
    """
    global _armed
    if not specification and not trace and reached is None:
        _armed = None
        return
    name, _, nth = specification.partition(":")
    _armed = _Armed(name, int(nth or "1"), trace, reached)


def failpoint(name: str) -> None:
    """Die here when a test has armed this name."""
    if _armed is not None:
        _reached(_armed, name)


def _reached(armed: _Armed, name: str) -> None:
    if armed.trace:
        with Path(armed.trace).open("a", encoding="ascii") as trace:
            trace.write(f"{name}\n")
    if armed.reached is not None:
        armed.reached(name)
    armed.hits[name] += 1
    count = armed.hits.total() if armed.name == "*" else armed.hits[armed.name]
    if armed.name in ("*", name) and count == armed.nth:
        os.kill(os.getpid(), signal.SIGKILL)
