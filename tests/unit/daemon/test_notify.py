"""The service manager is told what systemd documents, and pinged only while progress is made."""

import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestd.daemon.notify import Notifier, Pinger, Stalled, Watchdog, watchdog_seconds


class Manager:
    """A real NOTIFY_SOCKET, as systemd's."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(30)

    def received(self) -> list[str]:
        return self.socket.recv(4096).decode().split("\n")

    def nothing(self) -> bool:
        self.socket.setblocking(False)
        try:
            self.socket.recv(4096)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(30)
        return False

    def close(self) -> None:
        self.socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@ingestd-test-{os.getpid()}-{time.time_ns()}"
    with closing(Manager(address)) as made:
        yield made


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_life_of_a_service_is_told(manager: Manager) -> None:
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": manager.address})
    notifier.extend_timeout(90.5)
    assert manager.received() == ["EXTEND_TIMEOUT_USEC=90500000"]
    notifier.ready("12 documents")
    assert manager.received() == ["READY=1", "STATUS=12 documents"]
    notifier.status("idle")
    assert manager.received() == ["STATUS=idle"]
    notifier.watchdog()
    assert manager.received() == ["WATCHDOG=1"]
    notifier.stopping()
    assert manager.received() == ["STOPPING=1"]


def test_a_reload_carries_the_monotonic_time(manager: Manager) -> None:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    Notifier(address=manager.address).reloading()
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    reloading, at = manager.received()
    assert reloading == "RELOADING=1"
    assert before <= int(at.removeprefix("MONOTONIC_USEC=")) <= after


def test_a_status_cannot_smuggle_another_assignment(manager: Manager) -> None:
    Notifier(address=manager.address).status("converting a\nMAINPID=1\udcff")
    assert manager.received() == ["STATUS=converting a MAINPID=1\\udcff"]


def test_an_empty_status_sends_nothing(manager: Manager) -> None:
    Notifier(address=manager.address).status(" \n")
    assert manager.nothing()


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "vsock:2:1234"}])
def test_without_a_manager_nothing_happens(environ: dict[str, str]) -> None:
    notifier = Notifier.from_environment(environ)
    assert notifier.address is None
    notifier.ready()


def test_a_manager_that_is_gone_takes_nobody_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Notifier(address=str(tmp_path / "gone")).ready()
    assert "notify.not_sent" in caplog.text


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_interval_is_read_for_this_process(environ: dict[str, str], seconds: float | None) -> None:
    assert watchdog_seconds(environ, 7) == seconds


def test_a_loop_over_its_allowance_is_stalled_until_it_beats() -> None:
    clock = Clock()
    watchdog = Watchdog(clock)
    watchdog.register("ingest", 30)
    watchdog.register("watch", 90)
    clock.now += 30
    assert watchdog.stalled() == ()
    clock.now += 1
    assert watchdog.stalled() == (Stalled(name="ingest", silent_seconds=31, allowance_seconds=30),)
    watchdog.beat("watch")
    watchdog.beat("nobody")
    assert [loop.name for loop in watchdog.stalled()] == ["ingest"]
    watchdog.beat("ingest")
    assert watchdog.stalled() == ()
    clock.now += 100
    assert [loop.name for loop in watchdog.stalled()] == ["ingest", "watch"]
    watchdog.register("ingest", 200)
    watchdog.forget("watch")
    watchdog.forget("watch")
    assert watchdog.stalled() == ()


def test_a_stalled_loop_stops_the_pings_and_is_named_once(manager: Manager, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    watchdog = Watchdog(clock)
    watchdog.register("ingest", 30)
    pinger = Pinger(Notifier(address=manager.address), watchdog, 60)
    assert pinger.look()
    assert manager.received() == ["WATCHDOG=1"]
    clock.now += 45
    with caplog.at_level(logging.ERROR):
        assert not pinger.look()
        assert not pinger.look()
    assert manager.received() == ["STATUS=stalled: ingest has made no progress for 45 s"]
    assert manager.nothing()
    assert [record.getMessage() for record in caplog.records] == ["watchdog.stalled"]
    watchdog.beat("ingest")
    assert pinger.look()
    assert manager.received() == ["WATCHDOG=1"]


def test_the_thread_pings_while_loops_beat(manager: Manager) -> None:
    watchdog = Watchdog()
    watchdog.register("ingest", 3600)
    with Pinger(Notifier(address=manager.address), watchdog, 0.04):
        for _ in range(5):
            assert manager.received() == ["WATCHDOG=1"]


def test_without_an_interval_there_is_no_ping(manager: Manager) -> None:
    with Pinger(Notifier(address=manager.address), Watchdog(), None):
        pass
    assert manager.nothing()
