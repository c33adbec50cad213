"""When the roots are scanned without an event: the only module that knows APScheduler.

Its triggers compute the times (cron fields, daylight saving); its schedulers are left aside, because they read the
wall clock themselves and wait by it: set back by a day, they are silent for a day. Here a thread of its own asks
at each look what is due, and a wall clock that ran apart from the monotonic one (a suspended machine, a clock that
was set) makes a scan due at once.
"""

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from types import TracebackType
from typing import Protocol, Self, assert_never, cast

from apscheduler.triggers.combining import OrTrigger  # type: ignore[import-untyped]  # APScheduler 3 has no types
from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]  # APScheduler 3 has no types

from ingestd.errors import ConfigurationError
from ingestd.logs import Log
from ingestd.settings import Cron, Interval, rescan_from

LOOK_SECONDS = 5.0
"""Longest wait between two looks at the clocks: how late a scan after a resume may be."""
JUMP_SECONDS = 60.0
"""Difference between the clocks that time keeping never makes by slewing."""
_JITTER_SHARE = 0.1
_JITTER_SECONDS = 60.0
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile("|".join(_MONTHS))
_log = Log(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """The two clocks that a schedule compares."""

    wall: Callable[[], float] = time.time
    """Seconds since the epoch."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds that never jump; on Linux they stand still while the machine sleeps."""


class _Trigger(Protocol):
    """What is used of an APScheduler trigger."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None: ...


def parse_rescan(text: str) -> Interval | Cron:
    """Rescan times from their text: an interval such as ``15m``, or a cron line such as ``0 3 * * *``.

    Raises
    ------
    ConfigurationError
        When it is neither, or names a time that never comes.
    """
    try:
        rescan = rescan_from(text)
        comes = next_due(rescan, time.time(), UTC) is not None
    except ValueError as error:
        raise ConfigurationError(f"rescan: {error}") from error
    if not comes:
        raise ConfigurationError(f"rescan: {text!r} never comes: no year has such a day")
    return rescan


def next_due(rescan: Interval | Cron, after: float, timezone: tzinfo | None = None) -> float | None:
    """First time after ``after`` (seconds since the epoch) at which a scan is due, without jitter; ``None``: never.

    Parameters
    ----------
    timezone
        Of the cron line; ``None`` is the machine's.
    """
    match rescan:
        case Interval(seconds=seconds):
            return after + seconds
        case Cron(line=line):
            # The trigger counts the present moment as due: the smallest step makes it the past.
            moment = datetime.fromtimestamp(after, tz=UTC) + timedelta(microseconds=1)
            due = _cron_trigger(line, timezone).get_next_fire_time(None, moment)
            return None if due is None else due.timestamp()
        case _:
            assert_never(rescan)


class Schedule:
    """Calls ``due`` at the scheduled times, from entry to exit of the context, in a thread of its own.

    Times missed (a suspended machine, a busy one) are made up by one call, not by one each.

    Parameters
    ----------
    due
        Called with ``schedule`` or ``clock-jump``; sets a flag and returns: it must neither block nor raise.
    timezone
        Of a cron line; ``None`` is the machine's.
    chance
        Gives numbers in [0, 1): each time is put off by a part of it, a tenth of the interval, a minute at most, so
        that many installations that share a file server do not scan at the same moment.
    """

    def __init__(
        self,
        rescan: Interval | Cron,
        due: Callable[[str], None],
        *,
        timezone: tzinfo | None = None,
        clocks: Clocks | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._rescan = rescan
        self._due = due
        self._timezone = timezone
        self._clocks = clocks or Clocks()
        self._chance = chance
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ingestd-schedule", daemon=True)
        self._apart = 0.0
        self._next_at: float | None = None
        self._restart()

    @property
    def next_at(self) -> float | None:
        """Seconds since the epoch of the next scan, for people; ``None``: never."""
        return self._next_at

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(1.0)

    def look(self) -> float:
        """Call ``due`` when a scan is due or the clocks ran apart; give the seconds until the next look."""
        wall = self._clocks.wall()
        apart = wall - self._clocks.monotonic()
        if abs(apart - self._apart) > JUMP_SECONDS:
            _log.info("schedule.clock_jumped", seconds=round(apart - self._apart))
            self._restart()
            self._due("clock-jump")
        elif self._next_at is not None and wall >= self._next_at:
            self._restart()
            self._due("schedule")
        else:
            # Slewing adds up over months: only what happens between two looks is a jump.
            self._apart = apart
        return LOOK_SECONDS if self._next_at is None else min(LOOK_SECONDS, max(0.0, self._next_at - wall))

    def _restart(self) -> None:
        """Count from now, whatever was missed."""
        wall = self._clocks.wall()
        self._apart = wall - self._clocks.monotonic()
        due = next_due(self._rescan, wall, self._timezone)
        self._next_at = None if due is None else due + self._chance() * self._jitter_seconds(due - wall)

    def _jitter_seconds(self, wait_seconds: float) -> float:
        return min(_JITTER_SECONDS, wait_seconds * _JITTER_SHARE)

    def _run(self) -> None:
        while not self._stop.wait(self.look()):
            pass


def _cron_trigger(line: str, timezone: tzinfo | None) -> _Trigger:
    minute, hour, day, month, weekday = line.lower().split()
    month = _MONTH.sub(lambda name: str(_MONTHS.index(name[0]) + 1), month)
    weekdays = ",".join(_weekdays(weekday))

    def at(day: str, weekdays: str) -> _Trigger:
        return cast(
            _Trigger,
            CronTrigger(minute=minute, hour=hour, day=day, month=month, day_of_week=weekdays, timezone=timezone),
        )

    if day.startswith("*") or weekday.startswith("*"):
        return at(day, weekdays)
    # Cron's oldest surprise: day and weekday, both restricted, mean either. APScheduler means both.
    return cast(_Trigger, OrTrigger([at(day, "*"), at("*", weekdays)]))


def _weekdays(field: str) -> tuple[str, ...]:
    """Names of the weekdays of a cron field, which APScheduler needs spelt out: its 0 is Monday, cron's is Sunday."""
    if field == "*":
        return ("*",)
    days: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            begin, end = 0, 6
        else:
            begin = _weekday(first)
            # A step without an end runs to the end of the week, as in cron.
            end = _weekday(last) if last else (6 if step else begin)
        end += 7 if end < begin else 0
        days.update(day % 7 for day in range(begin, end + 1, int(step or 1)))
    return tuple(_WEEKDAYS[day] for day in sorted(days))


def _weekday(text: str) -> int:
    """0 to 7, Sunday being both."""
    return int(text) if text.isdecimal() else _WEEKDAYS.index(text)
