"""Scans come at their times, and after every jump of a clock."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestd.daemon.schedule import JUMP_SECONDS, LOOK_SECONDS, Clocks, Schedule, next_due, parse_rescan
from ingestd.errors import ConfigurationError
from ingestd.settings import Cron, Interval

MONDAY = datetime(2027, 2, 1, 12, 0, tzinfo=UTC)


class Machine:
    """Two clocks that a test moves."""

    def __init__(self) -> None:
        self.wall, self.monotonic = MONDAY.timestamp(), 1000.0
        self.calls: list[str] = []

    def schedule(self, text: str, *, chance: Callable[[], float] = lambda: 0.0) -> Schedule:
        clocks = Clocks(wall=lambda: self.wall, monotonic=lambda: self.monotonic)
        return Schedule(parse_rescan(text), self.calls.append, timezone=UTC, clocks=clocks, chance=chance)

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


def due(text: str, after: datetime = MONDAY, zone: timezone = UTC) -> datetime:
    at = next_due(parse_rescan(text), after.timestamp(), zone)
    assert at is not None
    return datetime.fromtimestamp(at, tz=zone)


def test_intervals_and_cron_lines_are_told_apart() -> None:
    assert parse_rescan("15m") == Interval(900)
    assert parse_rescan(" 1h ") == Interval(3600)
    assert parse_rescan("30s") == Interval(30)
    assert parse_rescan("0  3 * * *") == Cron("0 3 * * *")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither an interval such as '15m'"),
        ("900", "neither"),
        ("0s", "shorter than a second"),
        ("-5m", "neither"),
        ("61 * * * *", "no minute"),
        ("0 3 30 feb *", "never comes"),
        ("*/90 * * * *", "rescan: "),
        ("0 3 * * * *", "neither"),
        ("0 3 * * 8", "no weekday"),
    ],
)
def test_what_is_neither_or_never_comes_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        parse_rescan(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15m", MONDAY + timedelta(minutes=15)),
        ("*/15 * * * *", MONDAY + timedelta(minutes=15)),
        ("0 12 * * *", MONDAY + timedelta(days=1)),
        ("30 3 * * *", datetime(2027, 2, 2, 3, 30, tzinfo=UTC)),
        ("0 3 * * 0", datetime(2027, 2, 7, 3, tzinfo=UTC)),
        ("0 3 * * 7", datetime(2027, 2, 7, 3, tzinfo=UTC)),
        ("0 3 * * 1", datetime(2027, 2, 8, 3, tzinfo=UTC)),
        ("0 3 * * sun", datetime(2027, 2, 7, 3, tzinfo=UTC)),
        ("0 3 * * 6-7", datetime(2027, 2, 6, 3, tzinfo=UTC)),
        ("0 3 * * SAT-SUN", datetime(2027, 2, 6, 3, tzinfo=UTC)),
        ("0 3 * * 1-5", datetime(2027, 2, 2, 3, tzinfo=UTC)),
        ("0 3 * * 0-3/3", datetime(2027, 2, 3, 3, tzinfo=UTC)),
        ("0 3 * * 4/2", datetime(2027, 2, 4, 3, tzinfo=UTC)),
        ("0 3 * * */3", datetime(2027, 2, 3, 3, tzinfo=UTC)),
        ("0 3 15 * 5", datetime(2027, 2, 5, 3, tzinfo=UTC)),
        ("0 3 2 * 5", datetime(2027, 2, 2, 3, tzinfo=UTC)),
        ("0 3 1 jan-jun/2 *", datetime(2027, 3, 1, 3, tzinfo=UTC)),
        ("0 3 29 2 *", datetime(2028, 2, 29, 3, tzinfo=UTC)),
    ],
)
def test_the_next_time_is_what_cron_says(text: str, expected: datetime) -> None:
    assert due(text) == expected


def test_a_cron_line_is_read_in_the_time_zone_of_the_machine() -> None:
    east = timezone(timedelta(hours=5))
    assert due("0 3 * * *", zone=east) == datetime(2027, 2, 2, 3, tzinfo=east)


@given(
    minute=st.sampled_from(["*", "0", "*/7", "5-20/5", "1,59"]),
    hour=st.sampled_from(["*", "0", "*/6", "22-23"]),
    weekday=st.sampled_from(["*", "0", "1-5", "6-7", "fri"]),
    after=st.integers(0, 4_000_000_000),
)
def test_the_next_time_is_always_later_and_has_the_fields_asked_for(
    minute: str, hour: str, weekday: str, after: int
) -> None:
    at = next_due(Cron(f"{minute} {hour} * * {weekday}"), after, UTC)
    assert at is not None
    assert after < at <= after + 8 * 86400
    moment = datetime.fromtimestamp(at, tz=UTC)
    assert moment.second == 0
    cron_weekday = moment.isoweekday() % 7
    wanted = {"*": range(7), "0": [0], "1-5": range(1, 6), "6-7": [6, 0], "fri": [5]}
    assert cron_weekday in wanted[weekday]


def test_a_scan_comes_once_an_interval() -> None:
    machine = Machine()
    schedule = machine.schedule("15m")
    assert schedule.next_at == machine.wall + 900
    for _ in range(3):
        machine.pass_by(899)
        schedule.look()
        machine.pass_by(1)
        schedule.look()
        schedule.look()
    assert machine.calls == ["schedule"] * 3


def test_missed_times_are_made_up_by_one_scan() -> None:
    machine = Machine()
    schedule = machine.schedule("*/5 * * * *")
    machine.pass_by(7200)  # Stopped by a signal: both clocks go on.
    for _ in range(3):
        schedule.look()
    assert machine.calls == ["schedule"]


def test_a_resume_from_sleep_makes_a_scan_due_at_once() -> None:
    machine = Machine()
    schedule = machine.schedule("0 3 * * *")
    machine.wall += 3600
    schedule.look()
    schedule.look()
    assert machine.calls == ["clock-jump"]


def test_a_wall_clock_set_back_a_day_does_not_silence_the_schedule() -> None:
    machine = Machine()
    schedule = machine.schedule("15m")
    machine.wall -= 86400
    schedule.look()
    machine.pass_by(900)
    schedule.look()
    assert machine.calls == ["clock-jump", "schedule"]


def test_a_clock_that_drifts_slowly_is_no_jump() -> None:
    machine = Machine()
    schedule = machine.schedule("0 3 1 1 *")
    for _ in range(100):
        machine.pass_by(LOOK_SECONDS)
        machine.wall += JUMP_SECONDS / 10
        schedule.look()
    assert machine.calls == []


@pytest.mark.parametrize(("text", "latest"), [("1m", 66), ("10m", 660), ("6h", 6 * 3600 + 60)])
def test_jitter_puts_off_by_a_tenth_and_a_minute_at_most(text: str, latest: float) -> None:
    machine = Machine()
    at = machine.schedule(text, chance=lambda: 1.0).next_at
    assert at == pytest.approx(machine.wall + latest)


def test_the_next_look_is_never_far_nor_negative() -> None:
    machine = Machine()
    schedule = machine.schedule("8s")
    assert schedule.look() == LOOK_SECONDS
    machine.pass_by(5)
    assert schedule.look() == pytest.approx(3)
    machine.pass_by(100)
    assert 0 <= schedule.look() <= LOOK_SECONDS


def test_the_thread_calls_and_ends() -> None:
    called = threading.Semaphore(0)
    machine = Machine()

    def ticking() -> float:
        machine.pass_by(0.5)
        return machine.wall

    clocks = Clocks(wall=ticking, monotonic=lambda: machine.monotonic)
    with Schedule(Interval(0.1), lambda _why: called.release(), timezone=UTC, clocks=clocks, chance=lambda: 0.0):
        assert called.acquire(timeout=30)
        assert called.acquire(timeout=30)
    assert not any(thread.name == "ingestd-schedule" for thread in threading.enumerate())
