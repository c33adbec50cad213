"""What signals ask of the process.

SIGTERM or SIGINT asks it to stop, a second one of either ends it at once, SIGHUP asks for a reload. The interpreter
writes each signal's number to a socket pair from within the C handler, and a thread of its own acts on it: setting an
event inside a Python handler can deadlock with the main thread that waits on it, and a Python handler does not run at
all while the main thread is in native code. That thread logs nothing: a blocked log must not block a signal.
"""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self

KILL_SECONDS = 2.0
"""Longest that killing the children may hold up an immediate exit."""
_STOPPING = frozenset({signal.SIGTERM, signal.SIGINT})


class Stop(threading.Event):
    """An event that knows why it was set; waiting is ``stop.wait(seconds)``."""

    def __init__(self) -> None:
        super().__init__()
        self.reason = ""
        """Why, for people; empty until it is set."""
        self.signal_number: int | None = None
        """The signal that asked for it, if one did."""

    def request(self, reason: str, signal_number: int | None = None) -> None:
        """Set the event; the first reason stays."""
        self.reason = self.reason or reason
        self.signal_number = self.signal_number or signal_number
        self.set()


class Signals:
    """Turns signals into events from entry to exit of the context; only the main thread can enter it.

    Parameters
    ----------
    kill_children
        Called before an immediate exit: kills the process groups of all children. Nothing but the kernel runs after
        it, so it must neither wait nor need a lock that a stuck thread may hold.
    wake
        Called after the first stop and each reload, in the signals' thread, for a loop that waits on something else;
        it must neither block nor raise.
    leave
        Ends the process with the exit status, 128 plus the signal's number; it must not return.
    """

    def __init__(
        self,
        *,
        kill_children: Callable[[], None] = lambda: None,
        wake: Callable[[], None] = lambda: None,
        leave: Callable[[int], Any] = os._exit,
    ) -> None:
        self.stop = Stop()
        self.reload = threading.Event()
        """Set by SIGHUP; whoever reloads clears it first."""
        self._kill_children = kill_children
        self._wake = wake
        self._leave = leave
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._written, self._read = socket.socketpair()
        self._written.setblocking(False)  # noqa: FBT003  positional in the standard library
        self._thread = threading.Thread(target=self._run, name="ingestd-signals", daemon=True)
        self._thread.start()
        self._descriptor_before = signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        for number in (*_STOPPING, signal.SIGHUP):
            self._before[number] = signal.signal(number, _noted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if before is None else before)
        signal.set_wakeup_fd(self._descriptor_before)
        self._written.close()
        self._thread.join(KILL_SECONDS)
        self._read.close()

    def _run(self) -> None:
        while numbers := self._read.recv(64):
            for number in numbers:
                self._act(number)

    def _act(self, number: int) -> None:
        if number in _STOPPING:
            if self.stop.signal_number is not None:
                self._end_now(128 + number)
            else:
                self.stop.request(f"{signal.Signals(number).name} received", number)
                self._wake()
        elif number == signal.SIGHUP:
            self.reload.set()
            self._wake()

    def _end_now(self, status: int) -> None:
        # On another thread: a lock held by whatever is stuck must not keep the process.
        killer = threading.Thread(target=self._kill_children, name="ingestd-kill", daemon=True)
        killer.start()
        killer.join(KILL_SECONDS)
        self._leave(status)


def kill_groups(process_groups: Iterable[int]) -> None:
    """SIGKILL to each process group; one that is gone already is fine."""
    for group in process_groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _noted(_number: int, _frame: FrameType | None) -> None:
    """Python's part of the handling: the signal is noted elsewhere, and a wait in the main thread goes on."""
