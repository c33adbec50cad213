"""The store's process dies while others use it: whoever wrote is told."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestd import failpoints
from ingestd.errors import StoreUnavailable
from ingestd.ports.store import Store
from ingestd.testing.store_opening import GENERATION, OURS, made_points, point_ids, unit
from ingestd_adapters.edge_store import EdgeStore, edge

ONE, TWO = point_ids(2)
WRITES = [made_points(1, [ONE], unit(0)), made_points(2, [TWO], unit(1), path="other.md")]
"""Two versions, so two frames."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EdgeStore]:
    opened: Store = edge(OURS, {"directory": str(tmp_path / "store")})
    assert isinstance(opened, EdgeStore)
    opened.prepare(GENERATION)
    yield opened
    opened.close()


def kill(store: EdgeStore) -> None:
    pid = store.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def die_noticed_by_a_reader(store: EdgeStore) -> None:
    kill(store)
    with pytest.raises(StoreUnavailable):
        store.count(GENERATION)


def test_a_death_that_a_reader_notices_between_two_frames_of_a_write_fails_the_flush(store: EdgeStore):
    asked = []

    def at(name: str) -> None:
        asked.append(name)
        if asked.count("store.write_asked") == 2 and name == "store.write_asked":
            die_noticed_by_a_reader(store)

    failpoints.arm("", reached=at)
    try:
        store.upsert(GENERATION, WRITES)
    finally:
        failpoints.arm("")
    assert asked.count("store.write_asked") == 2
    with pytest.raises(StoreUnavailable, match="to be repeated"):
        store.flush(GENERATION)
    store.upsert(GENERATION, WRITES)
    store.flush(GENERATION)
    assert {point.id for point in store.scroll(GENERATION, ())} == {ONE, TWO}


def test_a_death_that_the_writer_notices_itself_is_told_once(store: EdgeStore):
    asked = []

    def at(name: str) -> None:
        asked.append(name)
        if asked.count("store.write_asked") == 2 and name == "store.write_asked":
            kill(store)

    failpoints.arm("", reached=at)
    try:
        with pytest.raises(StoreUnavailable):
            store.upsert(GENERATION, WRITES)
    finally:
        failpoints.arm("")
    store.upsert(GENERATION, WRITES)
    store.flush(GENERATION)
    assert {point.id for point in store.scroll(GENERATION, ())} == {ONE, TWO}


def test_a_death_between_a_write_and_its_flush_fails_the_flush_although_a_later_write_fails_too(store: EdgeStore):
    store.upsert(GENERATION, WRITES[:1])
    kill(store)
    with pytest.raises(StoreUnavailable):
        store.upsert(GENERATION, WRITES[1:])
    with pytest.raises(StoreUnavailable, match="to be repeated"):
        store.flush(GENERATION)
