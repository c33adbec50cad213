"""The same job with a Qdrant server in place of the embedded store."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.errors import StoreMismatch, StoreUnavailable
from ingestd.settings import EmbedderSettings, StoreSettings
from tests.contract.qdrant_standin import Fault, StandIn
from tests.system.conftest import Program, sections

Write = Callable[..., Path]


@pytest.fixture
def server() -> Iterator[StandIn]:
    stand_in = StandIn(version="1.16")
    yield stand_in
    stand_in.close()
    assert stand_in.refused == []


@pytest.fixture
def remote(program: Program, server: StandIn) -> Program:
    return program.with_settings(store=StoreSettings(kind="server", url=server.url, timeout_seconds=20.0))


def test_a_server_follows_the_folder(remote: Program, write: Write) -> None:
    first = write("a.md", sections("one", "two"))
    write("b.md", sections("three"))
    assert remote.sync()["failed"] == []
    first.rename(remote.folder / "c.md")
    write("b.md", sections("three", "four"))
    report = remote.sync()
    assert (report["moved"], report["changed"]) == (1, 1)
    assert set(remote.texts()) == {"b.md", "c.md"}
    (remote.folder / "b.md").unlink()
    remote.sync()
    assert set(remote.texts()) == {"c.md"}
    assert remote.read("verify")["ok"]


def test_a_response_lost_after_it_took_effect_doubles_nothing(remote: Program, write: Write, server: StandIn) -> None:
    write("a.md", sections("one", "two"))
    server.fail(Fault(kind="lost", matching="PUT /collections/.*/points"))
    assert remote.sync()["failed"] == []
    assert remote.read("verify")["ok"]


def test_an_unreachable_server_loses_nothing(remote: Program, write: Write) -> None:
    write("a.md", sections("one"))
    dead = replace(
        remote, settings=replace(remote.settings, store=StoreSettings(kind="server", url="http://127.0.0.1:9"))
    )
    with pytest.raises(StoreUnavailable):
        dead.sync()
    assert remote.sync()["failed"] == []
    assert set(remote.texts()) == {"a.md"}


def test_another_state_of_the_same_instance_has_to_be_told_to_adopt(remote: Program, write: Write) -> None:
    write("a.md", sections("one"))
    remote.sync()
    other = replace(remote, state=remote.state.with_name("other"))
    with pytest.raises(StoreMismatch, match="--adopt"):
        other.sync()
    adopting = replace(other, adopt=True)
    report = adopting.sync()
    assert report["failed"] == []
    assert adopting.read("verify")["ok"]
    assert all(hit["doc_version"] == 2 for hit in adopting.search("anything"))


def test_a_rebuild_moves_the_alias_that_readers_use(remote: Program, write: Write, server: StandIn) -> None:
    write("a.md", sections("one"))
    remote.sync()
    changed = remote.with_settings(embedder=EmbedderSettings(name="hash", dimension=32))
    changed.reindex(force=True)
    (alias,) = server.engine.run("GET", ["aliases"], None).aliases
    assert (alias.alias_name, alias.collection_name) == ("documents", "documents.g2")
    assert changed.read("verify")["ok"]
