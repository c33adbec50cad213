"""Commands, by name, to what carries them out."""

from typing import Any

import pytest

from ingestd.daemon import answer
from ingestd.daemon.passes import Hooks
from ingestd.daemon.requests import Requests
from ingestd.errors import ConfigurationError
from tests.unit.pipeline.site import Site, SiteOwner


@pytest.fixture
def owner(site: Site) -> Any:
    site.write("a.md", "Text.\n")
    site.sync()
    return SiteOwner(site)


def read(owner: Any, command: str, **arguments: Any) -> dict[str, Any]:
    return answer.read(owner, owner.site.parts(), command, arguments, {"running": True})


def test_reading_commands_are_answered_at_once(owner: Any) -> None:
    requests = Requests(lambda: None, dict)
    answered = answer.answer(owner, owner.site.parts(), requests, {"running": True}, "status", {})
    assert isinstance(answered, dict)
    assert answered["daemon"] == {"running": True}
    assert requests.take() is None
    assert read(owner, "verify")["ok"]
    assert read(owner, "show", path="a.md")["state"] == "done"
    (hit,) = read(owner, "search", query="text", limit=3)["hits"]
    assert (hit["path"], hit["body"]) == ("a.md", "Text.")


@pytest.mark.parametrize("command", [*answer.QUICK, *answer.LONG])
def test_other_commands_wait_for_the_loop(owner: Any, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestd.daemon.requests._PROGRESS_SECONDS", 0.01)
    requests = Requests(lambda: None, dict)
    answered: Any = answer.answer(owner, owner.site.parts(), requests, {}, command, {"one": 1})
    next(answered)
    request = requests.take()
    assert request is not None
    assert (request.command, request.arguments) == (command, {"one": 1})


def test_a_command_that_nobody_knows_is_refused_everywhere(owner: Any) -> None:
    parts = owner.site.parts()
    for call in (
        lambda: answer.read(owner, parts, "dance", {}, {}),
        lambda: answer.change(parts, "dance", {}),
        lambda: answer.work(owner, "dance", {}, Hooks()),
        lambda: answer.answer(owner, parts, Requests(lambda: None, dict), {}, "dance", {}),
    ):
        with pytest.raises(ConfigurationError, match="'dance'"):
            call()


def test_who_the_daemon_is() -> None:
    fields = answer.daemon_fields()
    assert fields["running"]
    assert fields["since"].endswith("Z")
