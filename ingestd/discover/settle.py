"""Waits until a file is left alone."""

import heapq
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ingestd.model.source import Signature

Key = TypeVar("Key", bound=Hashable)

SLOWEST = 10
"""A file that keeps changing is looked at ever more rarely, down to once in this many ``settle_seconds``."""
PATIENCE = 0.25
"""Next look at a file that keeps changing, as a share of the time that it has been changing for."""


@dataclass(slots=True)
class _Waiting:
    signature: Signature | None
    since: float
    """Moment of the first look that saw this signature."""
    changing_since: float
    """Moment of the first look of all."""
    ticket: int = 0
    """Its one valid place in the queue."""


class Settling(Generic[Key]):
    """Files that were seen to change, until their signature holds still.

    A file is still when two looks at least ``settle_seconds`` apart saw the same signature, none between them saw
    another, and it was last written ``settle_seconds`` ago. One that never holds still is never given up. The caller
    brings the time: ``now`` in seconds on a clock that never jumps.

    Parameters
    ----------
    settle_seconds
        0 takes up every file at its first look.
    """

    def __init__(self, settle_seconds: float) -> None:
        self.settle_seconds = settle_seconds
        self._waiting: dict[Key, _Waiting] = {}
        # Holds each waiting key with its due time, and left-overs of due times that were replaced.
        self._queue: list[tuple[float, int, Key]] = []
        self._pushed = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: object) -> bool:
        return key in self._waiting

    def look(self, key: Key, signature: Signature, now: float, wall_ns: int) -> bool:
        """Report what a look at the file saw; true when it is still, and then it waits no longer.

        Parameters
        ----------
        now
            Seconds on a monotonic clock.
        wall_ns
            The wall clock in nanoseconds, for the file's age alone. A modification time in its future says nothing
            about the age and is not waited for.
        """
        waiting = self._waiting.get(key)
        if waiting is None or waiting.signature != signature:
            first = now if waiting is None else waiting.changing_since
            waiting = _Waiting(signature=signature, since=now, changing_since=first)
            self._waiting[key] = waiting
        still_in = max(waiting.since + self.settle_seconds - now, self._youth_seconds(signature, wall_ns))
        if still_in <= 0:
            self.forget(key)
            return True
        patience = min(PATIENCE * (waiting.since - waiting.changing_since), SLOWEST * self.settle_seconds)
        self._push(key, waiting, now + max(still_in, patience))
        return False

    def due(self, now: float) -> tuple[Key, ...]:
        """Keys to look at now, the longest due first; each comes again in ``settle_seconds`` until looked at."""
        ready: list[Key] = []
        while self._queue and self._queue[0][0] <= now:
            _, ticket, key = heapq.heappop(self._queue)
            if self._valid(key, ticket):
                ready.append(key)
        for key in ready:
            self._push(key, self._waiting[key], now + self.settle_seconds)
        return tuple(ready)

    def next_due(self) -> float | None:
        """Moment of the next look that is due, ``None`` when nothing waits."""
        while self._queue:
            due, ticket, key = self._queue[0]
            if self._valid(key, ticket):
                return due
            heapq.heappop(self._queue)
        return None

    def forget(self, key: Key) -> None:
        """Stop waiting for the file: it is gone, or someone else took it up."""
        self._waiting.pop(key, None)

    def _youth_seconds(self, signature: Signature, wall_ns: int) -> float:
        age = (wall_ns - signature.mtime_ns) / 1e9
        return self.settle_seconds - age if age >= 0 else 0.0

    def _push(self, key: Key, waiting: _Waiting, due: float) -> None:
        self._pushed += 1
        waiting.ticket = self._pushed
        heapq.heappush(self._queue, (due, waiting.ticket, key))

    def _valid(self, key: Key, ticket: int) -> bool:
        waiting = self._waiting.get(key)
        return waiting is not None and waiting.ticket == ticket
