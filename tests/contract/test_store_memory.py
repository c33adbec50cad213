from pathlib import Path

from ingestd.model.identity import Instance
from ingestd.testing.store import GENERATION, MemoryStore, Shelf, StoreContract, made_points, point_ids, unit


class TestMemoryStore(StoreContract):
    shelves: dict[Path, Shelf]

    def open_store(self, place: Path, instance: Instance) -> MemoryStore:
        if not hasattr(self, "shelves"):
            self.shelves = {}
        return MemoryStore(instance, self.shelves.setdefault(place, Shelf()))


def test_a_power_loss_takes_what_was_not_flushed():
    shelf = Shelf()
    store = MemoryStore(Instance("ours"), shelf)
    store.prepare(GENERATION)
    store.upsert(GENERATION, [made_points(1, point_ids(1), unit(0))])
    store.flush(GENERATION)
    store.upsert(GENERATION, [made_points(1, point_ids(1, first=1), unit(0))])
    shelf.lose_power()
    assert [point.id for point in store.scroll(GENERATION, ())] == list(point_ids(1))
