"""The one owner of a state."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.daemon import owner as owning
from ingestd.daemon.owner import Owner, Ownership
from ingestd.errors import ConfigurationError, StateLocked
from ingestd.settings import EmbedderSettings, RootSettings, Settings


@pytest.fixture
def ownership(tmp_path: Path, empty_ledger: bytes) -> Ownership:
    state = tmp_path / "state"
    state.mkdir()
    (state / "ledger.sqlite").write_bytes(empty_ledger)
    (tmp_path / "docs").mkdir()
    settings = Settings(
        embedder=EmbedderSettings(name="hash"), roots=(RootSettings(name="docs", path=tmp_path / "docs"),)
    )
    return Ownership(settings=settings, configuration=None, state_dir=state)


def owner(ownership: Ownership) -> Owner:
    return Owner(ownership, threading.Event())


def test_a_state_has_one_owner(ownership: Ownership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owning, "LOCK_SECONDS", 0.05)
    with owner(ownership), pytest.raises(StateLocked), owner(ownership):
        pass
    with owner(ownership):
        pass


def test_an_owner_that_is_refused_leaves_the_state_free(ownership: Ownership) -> None:
    with owner(ownership):
        pass
    other = replace(ownership, settings=replace(ownership.settings, instance="other"))
    with pytest.raises(ConfigurationError, match="belongs to the instance"), owner(other):
        pass
    with owner(ownership) as entered:
        assert [row.name for row, _ in entered.register().roots.values()] == ["docs"]


def test_the_parts_are_what_the_settings_say(ownership: Ownership) -> None:
    stop = threading.Event()
    with owner(ownership) as entered:
        parts = entered.parts(entered.register(), stop=stop)
        (plan,) = parts.roots.values()
        daemon, converter = ownership.settings.daemon, ownership.settings.converter
        assert (parts.settle_seconds, parts.on_failure) == (daemon.settle_seconds, daemon.on_failure)
        assert (parts.workers, parts.shutdown_seconds) == (converter.workers, daemon.shutdown_seconds)
        assert parts.stop is stop
        assert parts.staging.is_dir()
        assert (plan.name, plan.collection, plan.follow_links) == ("docs", "documents", False)
        assert entered.wiring.embeddings == {}, "a plan makes no engine"
        assert plan.engines is plan.engines
        assert len(entered.wiring.embeddings) == 1


def test_a_root_that_holds_the_state_is_refused(ownership: Ownership) -> None:
    around = RootSettings(name="all", path=ownership.state_dir.parent)
    settings = replace(ownership.settings, roots=(around,))
    with (
        owner(replace(ownership, settings=settings)) as entered,
        pytest.raises(ConfigurationError, match="holds the state directory"),
    ):
        entered.register()
