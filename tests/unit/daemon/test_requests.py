"""What the control socket asks of the loop."""

import threading
from collections.abc import Generator
from typing import Any

import pytest

from ingestd.daemon import requests
from ingestd.daemon.requests import Requests
from ingestd.errors import ConfigurationError, TransientError


@pytest.fixture
def woken() -> threading.Event:
    return threading.Event()


@pytest.fixture
def asked(woken: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Requests:
    monkeypatch.setattr(requests, "_PROGRESS_SECONDS", 0.01)
    return Requests(woken.set, lambda: {"done": 1})


def final(asking: Generator[dict[str, Any], None, dict[str, Any]]) -> dict[str, Any]:
    while True:
        try:
            next(asking)
        except StopIteration as ended:
            return dict(ended.value)


def test_a_request_is_answered_and_tells_of_progress_meanwhile(asked: Requests, woken: threading.Event) -> None:
    asking = asked.ask("sync", {"folders": []})
    assert next(asking) == {"done": 1}
    assert woken.is_set()
    request = asked.take()
    assert request is not None
    assert (request.command, request.arguments) == ("sync", {"folders": []})
    request.reply.set_result({"seen": 3})
    assert final(asking) == {"seen": 3}


def test_what_the_command_ended_with_is_raised(asked: Requests) -> None:
    asking = asked.ask("sync", {})
    next(asking)
    request = asked.take()
    assert request is not None
    request.reply.set_exception(ConfigurationError("no such folder"))
    with pytest.raises(ConfigurationError, match="no such folder"):
        next(asking)


def test_requests_are_taken_in_the_order_they_came_and_those_put_back_wait(asked: Requests) -> None:
    for command in ("sync", "retry"):
        next(asked.ask(command, {}))
    first = asked.take()
    assert first is not None
    asked.put_back(first)
    assert [request.command for request in iter(asked.take, None)] == ["retry", "sync"]
    assert asked.take() is None


def test_whoever_waits_when_the_daemon_stops_is_told(asked: Requests) -> None:
    asking = asked.ask("sync", {})
    next(asking)
    asked.close()
    with pytest.raises(TransientError, match="was not begun"):
        next(asking)


def test_a_daemon_that_stops_takes_no_more_requests(asked: Requests) -> None:
    asked.close()
    with pytest.raises(TransientError, match="was not begun"):
        next(asked.ask("sync", {}))


def test_a_request_put_in_while_the_daemon_closes_is_not_waited_for_ever(woken: threading.Event) -> None:
    made = Requests(woken.set, dict)

    class Closing(type(made._queue)):  # type: ignore[misc]  # a race, made to happen
        def put(self, item: Any, **more: Any) -> None:
            made.close()
            super().put(item, **more)

    made._queue = Closing()
    with pytest.raises(TransientError, match="was not begun"):
        next(made.ask("sync", {}))
