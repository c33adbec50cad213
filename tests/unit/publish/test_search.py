"""What a search gives while versions change under it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

sys.path.append(str(Path(__file__).parents[2] / "faults"))

from crash_world import COLLECTION, EVERYTHING, World, ids_of, vector
from failing_store import Through

from ingestd.model.point import Generation, Hit, SearchFilter
from ingestd.ports.store import Store
from ingestd.publish.search import merge, search
from ingestd.state import generations


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "world")
    made.start()
    yield made
    made.kill()


class ChangesAfterSearches(Through):
    """Has the folder change after each of the first searches, before the ledger is asked about their hits."""

    def __init__(self, store: Store, changes: list[Callable[[], None]]) -> None:
        super().__init__(store)
        self.changes = changes
        self.searches = 0

    def search(self, generation: Generation, vector: np.ndarray, limit: int, narrowed: SearchFilter) -> tuple[Hit, ...]:
        self.searches += 1
        found = self.store.search(generation, vector, limit, narrowed)
        if self.changes:
            self.changes.pop(0)()
        return found


def hits(world: World, store: Store, limit: int = 10, narrowed: SearchFilter = EVERYTHING) -> list[str]:
    with world.ledger.read() as transaction:
        row = generations.live(transaction, COLLECTION)
    assert row is not None
    return [hit["id"] for hit in search(world.ledger, store, row, vector("query"), limit, narrowed)]


def brought_in(world: World, **files: tuple[str, ...]) -> Callable[[], None]:
    def bring() -> None:
        world.set_folder({name.encode(): texts for name, texts in files.items()})
        world.sync()

    return bring


def test_a_version_served_during_a_search_is_found_whole(world: World):
    brought_in(world, a=("old",))()
    store = ChangesAfterSearches(world.store, [brought_in(world, a=("new", "newer"))])
    assert set(hits(world, store)) == set(ids_of(b"a", ("new", "newer")))
    assert store.searches == 3


def test_versions_that_change_at_every_look_are_found_in_one_of_them(world: World):
    brought_in(world, a=("v0",))()
    store = ChangesAfterSearches(world.store, [brought_in(world, a=(f"v{n}",)) for n in (1, 2, 0)])
    assert hits(world, store) == list(ids_of(b"a", ("v0",)))


def test_a_search_ends_although_documents_change_without_end(world: World):
    brought_in(world, a=("v0",))()
    store = ChangesAfterSearches(world.store, [brought_in(world, a=(f"v{n}",)) for n in range(1, 40)])
    hits(world, store)
    assert store.searches < 30


def test_a_quiet_store_is_asked_once(world: World):
    brought_in(world, a=("one", "two"), b=("three",))()
    store = ChangesAfterSearches(world.store, [])
    assert len(hits(world, store)) == 3
    assert store.searches == 1


def test_a_document_removed_during_a_search_is_not_found(world: World):
    brought_in(world, a=("one",), b=("two",))()
    store = ChangesAfterSearches(world.store, [brought_in(world, b=("two",))])
    assert hits(world, store) == list(ids_of(b"b", ("two",)))


def test_points_that_nobody_serves_do_not_use_up_the_limit(world: World):
    texts = tuple(f"text {n}" for n in range(60))
    brought_in(world, a=texts)()
    with world.ledger.write("unserve") as transaction:
        # As while a version is written that will have many more points than the one served.
        transaction.execute(text("DELETE FROM point WHERE id NOT IN (SELECT id FROM point LIMIT 4)"))
    assert len(hits(world, world.store, limit=4)) == 4


def test_hits_of_several_generations_come_best_first():
    first, second = [{"score": 0.9}, {"score": 0.1}], [{"score": 0.5}]
    assert merge([first, second], 2) == [{"score": 0.9}, {"score": 0.5}]
