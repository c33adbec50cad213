"""Watches of all roots."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from ingestd.daemon.watching import Watches, needs_polling
from ingestd.discover.watch import Broken, Degraded, Polling
from tests.unit.pipeline.site import Site

_DEADLINE_SECONDS = 20.0


@pytest.fixture
def wake() -> threading.Event:
    return threading.Event()


@pytest.fixture
def watches(wake: threading.Event) -> Iterator[Watches]:
    made = Watches(wake)
    yield made
    made.stop()


def eventually(wake: threading.Event, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        wake.wait(0.05)


def test_a_change_below_a_root_becomes_a_hint(site: Site, watches: Watches, wake: threading.Event) -> None:
    plans = site.parts().roots
    (id_,) = plans
    assert watches.follow(plans, {}) == [id_]
    site.write("a.md", "Text.\n")
    found: set[bytes] = set()

    def hinted() -> bool:
        for hints in watches.take().values():
            found.update(hints.shallow | hints.deep)
        return b"" in found

    eventually(wake, hinted)
    assert watches.documents() == {id_: {"state": "watching", "directories": 1}}
    assert watches.deaf() == set()


def test_a_root_that_is_followed_already_needs_no_new_scan(site: Site, watches: Watches) -> None:
    plans = site.parts().roots
    watches.follow(plans, {})
    assert watches.follow(plans, {}) == []


def test_a_root_that_is_followed_no_longer_is_not_spoken_of(site: Site, watches: Watches) -> None:
    watches.follow(site.parts().roots, {})
    assert watches.follow({}, {}) == []
    assert watches.documents() == {}
    assert watches.take() == {}


def test_a_polled_root_is_deaf_and_says_so(site: Site, watches: Watches) -> None:
    plans = site.parts().roots
    (id_,) = plans
    assert watches.follow(plans, {id_: "always"}) == []
    assert watches.deaf() == {id_}
    assert watches.documents()[id_]["state"] == "polling"
    watches.supervise(plans)
    watches.cover(id_, b"")


def test_a_local_folder_is_polled_only_when_told_so(site: Site) -> None:
    path = next(iter(site.parts().roots.values())).row.path
    assert [needs_polling(path, poll) for poll in ("auto", "always", "never")] == [False, True, False]


def test_a_root_that_is_not_there_is_watched_once_it_is(site: Site, watches: Watches, wake: threading.Event) -> None:
    docs = site.directory / "docs"
    docs.rmdir()
    plans = site.parts().roots
    (id_,) = plans
    watches.follow(plans, {})
    assert watches.deaf() == {id_}
    docs.mkdir()

    def watched() -> bool:
        watches.supervise(plans)
        return watches.deaf() == set()

    eventually(wake, watched)
    assert watches.take()[id_].deep == frozenset({b""})


@pytest.mark.parametrize(
    ("health", "state"),
    [
        (Degraded(watched=1, directories=2, way_out="sysctl"), "degraded"),
        (Polling(reason="the limit is reached", way_out="sysctl"), "polling"),
        (Broken(reason="gone"), "broken"),
    ],
)
def test_a_watch_that_does_not_hear_all_is_deaf(site: Site, watches: Watches, health: object, state: str) -> None:
    plans = site.parts().roots
    (id_,) = plans
    watches.follow(plans, {})
    watches._tell(id_, "docs", health)  # type: ignore[arg-type]  # each kind of health
    assert watches.deaf() == {id_}
    assert watches.documents()[id_]["state"] == state
