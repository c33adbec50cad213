"""What the service manager is told, by the datagrams of sd_notify(3).

Outside systemd there is no ``NOTIFY_SOCKET``, and nothing is sent.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ingestd.logs import Log

_SEND_SECONDS = 1.0
"""A manager that does not read for so long loses a message rather than stop a loop of ours."""
_STATUS_CHARACTERS = 500
_log = Log(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Sends to the service manager; safe from any thread, never raises."""

    address: str | None = None
    """``NOTIFY_SOCKET``: an absolute path, or a name of the abstract namespace after ``@``. ``None``: nothing is sent."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Notifier for the manager that started this process, if any."""
        address = environ.get("NOTIFY_SOCKET", "")
        if address and address[0] not in "/@":
            _log.warning("notify.address_unknown", address=address)
        return cls(address=address if address[:1] in {"/", "@"} else None)

    def ready(self, status: str = "") -> None:
        """The daemon serves: at the end of the start, and of each reload."""
        self._send("READY=1", *_status(status))

    def status(self, text: str) -> None:
        """One line for people, shown by ``systemctl status``."""
        self._send(*_status(text))

    def reloading(self) -> None:
        """The configuration is being read again; :meth:`ready` must follow."""
        # The manager pairs the message with its own SIGHUP by the time, which must be CLOCK_MONOTONIC's.
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self, status: str = "") -> None:
        """The daemon is on its way out."""
        self._send("STOPPING=1", *_status(status))

    def extend_timeout(self, seconds: float) -> None:
        """The start or the stop in progress will take up to so many seconds more, counted from now."""
        self._send(f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}")

    def watchdog(self) -> None:
        """The daemon made progress; :class:`Pinger` calls this."""
        self._send("WATCHDOG=1")

    def _send(self, *assignments: str) -> None:
        if self.address is None or not assignments:
            return
        address = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
                channel.settimeout(_SEND_SECONDS)
                channel.connect(address)
                channel.send("\n".join(assignments).encode("utf-8", "backslashreplace"))
        except OSError as error:
            _log.warning("notify.not_sent", message_start=assignments[0], error=str(error))


def watchdog_seconds(environ: Mapping[str, str], pid: int) -> float | None:
    """Interval within which the manager expects a ping from this process; ``None`` when it expects none."""
    if environ.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    microseconds = environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1e6 if microseconds.isdecimal() and int(microseconds) > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled:
    """A loop that has not proven progress within its allowance."""

    name: str
    silent_seconds: float
    allowance_seconds: float


class Watchdog:
    """Remembers when each named loop last proved progress; safe from any thread.

    A loop registers, beats each time it has really gone round (idle rounds count: they prove that it is not stuck),
    and is forgotten when it ends.

    Parameters
    ----------
    clock
        Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._loops: dict[str, tuple[float, float]] = {}

    def register(self, name: str, allowance_seconds: float) -> None:
        """Expect a beat from the loop at least each so many seconds, from now on; again changes the allowance."""
        with self._lock:
            self._loops[name] = (self._clock(), allowance_seconds)

    def beat(self, name: str) -> None:
        """The loop made progress; one that is not registered is ignored."""
        with self._lock:
            if name in self._loops:
                self._loops[name] = (self._clock(), self._loops[name][1])

    def forget(self, name: str) -> None:
        """Expect nothing from the loop any more."""
        with self._lock:
            self._loops.pop(name, None)

    def stalled(self) -> tuple[Stalled, ...]:
        """Loops that are over their allowance, by name."""
        with self._lock:
            now, loops = self._clock(), sorted(self._loops.items())
        return tuple(
            Stalled(name=name, silent_seconds=now - last, allowance_seconds=allowance)
            for name, (last, allowance) in loops
            if now - last > allowance
        )


class Pinger:
    """Thread that pings the service manager while no loop is stalled.

    Each quarter of the manager's interval it looks; all loops alive, it pings. So one ping may be withheld by a loop
    that is late by a moment, and the next still comes in time. Without an interval there is no thread.

    Parameters
    ----------
    interval_seconds
        What :func:`watchdog_seconds` gave.
    """

    def __init__(self, notifier: Notifier, watchdog: Watchdog, interval_seconds: float | None) -> None:
        self._notifier = notifier
        self._watchdog = watchdog
        self._interval_seconds = interval_seconds
        self._stop = threading.Event()
        self._told: frozenset[str] = frozenset()
        self._thread = threading.Thread(target=self._run, name="ingestd-watchdog", daemon=True)

    def __enter__(self) -> Self:
        if self._interval_seconds is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        with suppress(RuntimeError):  # Never started.
            self._thread.join(2 * _SEND_SECONDS)

    def look(self) -> bool:
        """Ping, unless a loop is stalled; say whether it pinged."""
        stalled = self._watchdog.stalled()
        if not stalled:
            self._notifier.watchdog()
        for loop in stalled:
            if loop.name not in self._told:
                _log.error("watchdog.stalled", loop=loop.name, silent_seconds=loop.silent_seconds)
                self._notifier.status(f"stalled: {loop.name} has made no progress for {loop.silent_seconds:.0f} s")
        self._told = frozenset(loop.name for loop in stalled)
        return not stalled

    def _run(self) -> None:
        assert self._interval_seconds is not None
        self.look()
        while not self._stop.wait(self._interval_seconds / 4):
            self.look()


def _status(text: str) -> tuple[str, ...]:
    # A line break would begin another assignment.
    line = " ".join(text.split())[:_STATUS_CHARACTERS]
    return (f"STATUS={line}",) if line else ()
