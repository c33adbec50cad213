"""The daemon's loop, turn by turn."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ingestd import failpoints
from ingestd.daemon import requests
from ingestd.daemon.loop import Loop
from ingestd.daemon.notify import Notifier
from ingestd.daemon.signals import Stop
from ingestd.errors import ConfigurationError, IngestdError, StoreUnavailable, TransientError
from tests.unit.pipeline.site import Site, SiteOwner


class Wake(threading.Event):
    """Remembers how long the loop would have waited."""

    seconds: float | None = None

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds = timeout
        return self.is_set()


class SignalsOf:
    def __init__(self) -> None:
        self.stop = Stop()


class Turns:
    """A loop without its threads."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.wake = Wake()
        self.signals = SignalsOf()
        owner: Any = SiteOwner(site)
        signals: Any = self.signals
        self.loop = Loop(owner, signals, Notifier.from_environment({}), self.wake)
        self.loop._register()

    def turn(self, times: int = 1) -> float:
        """Let the loop go round; gives how long it would wait."""
        for _ in range(times):
            self.loop._next = dict.fromkeys(self.loop._next, 0.0)
            self.loop._once()
        assert self.wake.seconds is not None
        return self.wake.seconds

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        asking = self.loop._requests.ask(command, arguments)
        next(asking)
        self.turn()
        while True:
            try:
                next(asking)
            except StopIteration as ended:
                return dict(ended.value)


@pytest.fixture
def turns(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    monkeypatch.setattr(requests, "_PROGRESS_SECONDS", 0.01)
    made = Turns(site)
    yield made
    made.loop._watches.stop()


def rescan(turns: Turns) -> None:
    turns.loop._rescan("test")


def test_a_scan_is_made_and_worked_off_in_one_turn(site: Site, turns: Turns) -> None:
    site.write("a.md", "Text.\n")
    rescan(turns)
    assert turns.turn() == 5.0
    assert set(site.texts()) == {"docs/a.md"}
    assert turns.loop._tally.touched == {}


def test_a_scan_that_failed_is_made_again(site: Site, turns: Turns) -> None:
    site.write("a.md", "Text.\n")

    def fail(name: str) -> None:
        if name == "ledger.scan.before":
            failpoints.arm("")
            raise TransientError("the ledger is locked by another program")

    rescan(turns)
    failpoints.arm("", reached=fail)
    turns.turn()
    failpoints.arm("")
    turns.turn()
    assert set(site.texts()) == {"docs/a.md"}


def test_an_outage_of_the_store_puts_the_work_off_and_loses_nothing(site: Site, turns: Turns) -> None:
    def fail(_kind: str) -> None:
        raise StoreUnavailable("no answer")

    site.write("a.md", "Text.\n")
    site.before_write = fail
    rescan(turns)
    assert turns.turn() <= 1.0
    assert turns.loop._next["work"] > 0
    site.before_write = lambda _kind: None
    site.time.ahead += 61
    turns.turn()
    assert set(site.texts()) == {"docs/a.md"}


def test_a_file_that_goes_while_it_settles_leaves_the_loop_at_rest(site: Site) -> None:
    site.settle_seconds = 2.0
    turns = Turns(site)
    path = site.write("a.md", "Text.\n")
    rescan(turns)
    assert 0 < turns.turn() <= 2.0
    path.unlink()
    site.write("b.md", "Text of b.\n")
    rescan(turns)
    turns.turn()
    site.time.ahead += 10
    turns.turn(2)
    assert turns.turn() == 5.0
    assert set(site.texts()) == {"docs/b.md"}
    turns.loop._watches.stop()


def test_small_changes_are_answered_in_the_middle_of_a_pass(site: Site, turns: Turns) -> None:
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    asking = turns.loop._requests.ask("forget", {"paths": ["0.md"]})
    started: list[int] = []

    def convert(_name: str) -> None:
        if not started:
            started.append(1)
            next(asking)

    site.before_convert = convert
    rescan(turns)
    turns.turn()
    assert site.states()["docs/0.md"] == "forgotten"
    assert set(site.texts()) == {"docs/1.md", "docs/2.md"}


def test_passes_wait_for_the_work_in_hand(site: Site, turns: Turns) -> None:
    site.write("a.md", "Text.\n")
    assert turns.ask("sync", folders=[])["added"] == 1
    assert set(site.texts()) == {"docs/a.md"}


def test_a_replaced_root_confirmed_in_the_middle_of_work_never_loses_what_is_there(site: Site, turns: Turns) -> None:
    for number in range(4):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    rescan(turns)
    turns.turn()
    docs = site.directory / "docs"
    docs.rename(site.directory / "old")
    docs.mkdir()
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}, written again.\n")
    rescan(turns)
    turns.turn()
    assert site.root_state() == "vanished"
    site.root("more")
    site.write("a.md", "Text.\n", root="more")
    turns.loop._register()
    asking = turns.loop._requests.ask("confirm", {"root": "docs", "list": False})
    started: list[int] = []

    def convert(_name: str) -> None:
        if not started:
            started.append(1)
            next(asking)

    site.before_convert = convert
    served: list[set[str]] = []
    failpoints.arm("", reached=lambda _name: served.append(site.served()))
    try:
        rescan(turns)
        turns.turn(2)
    finally:
        failpoints.arm("")
    assert started
    assert site.served() == {"0.md", "1.md", "2.md", "a.md"}
    assert all(moment >= {"0.md", "1.md", "2.md"} for moment in served)


def test_a_bug_in_one_request_does_not_end_the_daemon(turns: Turns) -> None:
    with pytest.raises(IngestdError, match="failed by a bug: KeyError"):
        turns.ask("retry")
    assert turns.ask("retry", paths=[], all=True) == {"retried": [], "unknown": []}


def test_a_request_that_is_refused_tells_why(turns: Turns) -> None:
    with pytest.raises(ConfigurationError, match="no root is called 'nowhere'"):
        turns.ask("confirm", root="nowhere", list=False)
    with pytest.raises(ConfigurationError, match="is no folder"):
        turns.ask("sync", folders=["/nowhere/at/all"])


def test_a_command_that_the_daemon_does_not_know_is_refused(turns: Turns) -> None:
    with pytest.raises(ConfigurationError, match="knows no command 'dance'"):
        turns.loop._answer("dance", {})


def test_status_is_answered_at_once_with_the_health_of_the_watches(site: Site, turns: Turns) -> None:
    answered: Any = turns.loop._answer("status", {})
    assert answered["daemon"]["running"]
    assert answered["daemon"]["watch"] == {"docs": {"state": "watching", "directories": 1}}
    assert answered["daemon"]["devices"] == []
    site.root("far", poll="always")
    turns.loop._register()
    answered = turns.loop._answer("status", {})
    assert answered["daemon"]["watch"]["far"]["state"] == "polling"


def test_a_root_that_is_polled_is_scanned_without_events(site: Site, turns: Turns) -> None:
    site.root("far", poll="always")
    turns.loop._register()
    site.write("a.md", "Text.\n", root="far")
    turns.turn()
    assert set(site.texts()) == {"far/a.md"}


def test_a_file_that_comes_in_the_middle_of_long_work_does_not_wait_for_its_end(site: Site, turns: Turns) -> None:
    site.write("old.md", "\n".join(f"# {number}\n\n" + f"About {number} here. " * 60 for number in range(400)))
    came = threading.Event()

    def arrive(_name: str) -> None:
        if not came.is_set():
            came.set()
            site.write("new.md", "New text.\n")
            turns.loop._rescan("schedule")

    site.before_convert = arrive
    turns.turn()
    assert came.is_set()
    assert site.served() == {"old.md", "new.md"}
