"""Other commands beside one that owns the state and ends by itself."""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from ingestd.daemon.ask import OwnerAbsent, ask
from ingestd.daemon.lock import StateLock
from ingestd.daemon.meanwhile import Meanwhile
from ingestd.daemon.rendezvous import socket_path
from ingestd.errors import ConfigurationError, StateLocked
from tests.unit.pipeline.site import Site, SiteOwner

_MOMENT = threading.Event()


class Beside:
    """A command that owns the site's state, and others that ask it."""

    def __init__(self, site: Site, pool: ThreadPoolExecutor) -> None:
        self.site = site
        self.stop = threading.Event()
        self._pool = pool

    @contextmanager
    def owning(self, command: str) -> Generator[Meanwhile]:
        owner: Any = SiteOwner(self.site)
        with (
            StateLock(owner.places.directory, command=command).acquire(0, self.stop),
            Meanwhile(owner, command, self.stop) as meanwhile,
        ):
            meanwhile.begin(self.site.parts())
            yield meanwhile

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return ask(socket_path(self.site.directory / "state"), command, arguments, timeout_seconds=20.0)

    def asking(self, command: str, **arguments: Any) -> "Future[dict[str, Any]]":
        return self._pool.submit(self.ask, command, **arguments)


@pytest.fixture
def beside(site: Site) -> Iterator[Beside]:
    for name in ("a.md", "b.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    with ThreadPoolExecutor() as pool:
        yield Beside(site, pool)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        _MOMENT.wait(0.01)


def waiting(meanwhile: Meanwhile) -> Callable[[], bool]:
    return lambda: not meanwhile._requests._queue.empty()


@pytest.mark.parametrize("command", ["sync", "verify"])
def test_questions_are_answered_at_once_with_who_works(beside: Beside, command: str) -> None:
    with beside.owning(command):
        status = beside.ask("status")
        assert status["daemon"]["working"]["command"] == command
        assert len(beside.ask("search", query="anything", limit=5)["hits"]) == 2
        assert beside.ask("show", path="a.md")["state"] == "done"
        assert beside.ask("verify")["ok"]
        assert beside.ask("confirm", root=None, list=True) == {"confirmed": [], "held": []}
    with pytest.raises(OwnerAbsent):
        beside.ask("status")


@pytest.mark.parametrize("command", ["sync", "reindex"])
def test_a_pass_is_told_who_owns_the_state_and_for_what(beside: Beside, command: str) -> None:
    with beside.owning("sync"), pytest.raises(StateLocked, match=r"process \d+ \(`ingestd sync`, since"):
        beside.ask(command, folders=[])


def test_a_change_waits_for_the_moment_between(beside: Beside) -> None:
    with beside.owning("sync") as meanwhile:
        forgetting = beside.asking("forget", paths=["a.md"])
        until(waiting(meanwhile))
        assert beside.site.states()["docs/a.md"] == "done"
        meanwhile.between()
        assert [one["path"] for one in forgetting.result()["forgotten"]] == ["a.md"]
        confirming = beside.asking("confirm", root="nobody", list=False)
        until(waiting(meanwhile))
        meanwhile.between()
        with pytest.raises(ConfigurationError, match="no root is called"):
            confirming.result()


def test_what_was_accepted_is_done_before_the_owner_leaves(beside: Beside) -> None:
    with beside.owning("reindex") as meanwhile:
        forgetting = beside.asking("forget", paths=["a.md"])
        until(waiting(meanwhile))
    assert forgetting.result()["unknown"] == []
    assert beside.site.states()["docs/a.md"] == "forgotten"


def test_an_owner_that_leaves_takes_no_more_changes(beside: Beside) -> None:
    with beside.owning("sync") as meanwhile:
        meanwhile._requests.refuse()
        with pytest.raises(StateLocked, match="ingestd sync"):
            beside.ask("retry", paths=[], all=True)


def test_a_command_that_makes_no_pass_takes_no_changes(beside: Beside) -> None:
    with beside.owning("verify"), pytest.raises(StateLocked, match="ingestd verify"):
        beside.ask("forget", paths=["a.md"])


def test_a_removal_confirmed_in_the_middle_is_looked_at_before_it_is_carried_out(beside: Beside) -> None:
    site = beside.site
    aside = site.directory / "aside"
    (site.directory / "docs").rename(aside)
    (site.directory / "docs").mkdir()
    site.sync()
    assert site.root_state() == "vanished"
    (site.directory / "docs").rmdir()
    aside.rename(site.directory / "docs")
    with beside.owning("sync") as meanwhile:
        confirming = beside.asking("confirm", root=None, list=False)
        until(waiting(meanwhile))
        meanwhile.between()
        assert confirming.result()["confirmed"][0]["root"] == "docs"
        site.work()
    assert set(site.texts()) == {"docs/a.md", "docs/b.md"}


def test_a_bug_in_a_change_does_not_end_the_pass(beside: Beside) -> None:
    with beside.owning("sync") as meanwhile:
        asking = beside.asking("forget")
        until(waiting(meanwhile))
        meanwhile.between()
        with pytest.raises(Exception, match="failed by a bug"):
            asking.result()
        assert beside.ask("status")["roots"]


def test_a_place_without_sockets_does_not_stop_the_work(beside: Beside, caplog: pytest.LogCaptureFixture) -> None:
    socket_path(beside.site.directory / "state").mkdir()
    with beside.owning("sync"):
        assert "control.not_served" in caplog.text
