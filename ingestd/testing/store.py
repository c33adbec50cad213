"""What every store must do.

A test class of an adapter inherits :class:`StoreContract`, says how its store is opened, and runs under pytest. Two
stores opened at one place look at the same points; the contract closes the first before it opens the second, since
an engine may lock its files.
"""

# ruff: noqa: D102  # the names of tests are sentences

from functools import partial
from pathlib import Path

import numpy as np

from ingestd.errors import StoreMismatch
from ingestd.model.identity import PointId
from ingestd.model.point import Claim, Deletion, Generation, PayloadOverwrite
from ingestd.testing.memory_store import MemoryStore, Shelf
from ingestd.testing.store_fences import StoreFences
from ingestd.testing.store_opening import (
    DIMENSION,
    EVERYTHING,
    GENERATION,
    OURS,
    THEIRS,
    made_points,
    payload,
    point_ids,
    refuses,
    unit,
)
from ingestd.testing.store_reads import StoreReads

__all__ = ["DIMENSION", "GENERATION", "MemoryStore", "Shelf", "StoreContract", "made_points", "point_ids", "unit"]


class StoreContract(StoreFences, StoreReads):
    """The port's promises, one test each."""

    def test_prepare_says_whether_it_made_the_collection(self, tmp_path: Path) -> None:
        with self.opened(tmp_path, prepared=False) as store:
            assert (store.generations(), store.prepare(GENERATION), store.prepare(GENERATION)) == ((), True, False)
            assert store.generations() == ("notes.g1",)

    def test_prepare_refuses_another_dimension(self, tmp_path: Path) -> None:
        other = Generation(collection=GENERATION.collection, number=1, dimension=DIMENSION + 1, embed_digest="e" * 64)
        with self.opened(tmp_path) as store:
            refuses(StoreMismatch, lambda: store.prepare(other))

    def test_prepare_refuses_another_vector_space(self, tmp_path: Path) -> None:
        other = Generation(collection=GENERATION.collection, number=1, dimension=DIMENSION, embed_digest="f" * 64)
        with self.opened(tmp_path) as store:
            refuses(StoreMismatch, lambda: store.prepare(other))

    def test_a_collection_that_does_not_exist_is_never_made_by_a_write(self, tmp_path: Path) -> None:
        with self.opened(tmp_path, prepared=False) as store:
            written = made_points(1, point_ids(1), unit(0))
            refuses(StoreMismatch, lambda: store.upsert(GENERATION, [written]))
            refuses(StoreMismatch, lambda: store.count(GENERATION))
            assert store.generations() == ()

    def test_a_claim_is_read_back_by_the_next_owner(self, tmp_path: Path) -> None:
        first = Claim(instance=OURS, state_id="s1", token="t1")  # noqa: S106  # no secret
        second = Claim(instance=OURS, state_id="s1", token="t2")  # noqa: S106  # no secret
        with self.opened(tmp_path, prepared=False) as store:
            assert store.claim(GENERATION) is None
            store.prepare(GENERATION)
            assert store.claim(GENERATION) is None
            store.record_claim(GENERATION, first)
            store.record_claim(GENERATION, second)
        with self.opened(tmp_path, prepared=False) as store:
            assert store.claim(GENERATION) == second

    def test_points_of_another_instance_are_neither_seen_nor_touched(self, tmp_path: Path) -> None:
        (point,) = point_ids(1)
        with self.opened(tmp_path, THEIRS, prepared=False) as store:
            store.prepare(GENERATION)
            theirs = made_points(1, [point], unit(0), instance=THEIRS)
            store.upsert(GENERATION, [theirs])
            store.flush(GENERATION)
        with self.opened(tmp_path, prepared=False) as store:
            ours = made_points(9, [point], unit(1))
            store.upsert(GENERATION, [ours])
            store.overwrite_payloads(GENERATION, [PayloadOverwrite(id=point, version=9, payload=ours.payloads[0])])
            store.delete(GENERATION, [Deletion(id=point, below_version=9)])
            store.flush(GENERATION)
            assert store.count(GENERATION) == 0
            assert store.retrieve(GENERATION, [point]) == ()
            assert list(store.scroll(GENERATION, ())) == []
            assert store.search(GENERATION, unit(0)[0], 5, EVERYTHING) == ()
        with self.opened(tmp_path, THEIRS, prepared=False) as store:
            assert [found.payload for found in store.retrieve(GENERATION, [point])] == list(theirs.payloads)

    def test_generations_are_kept_apart_until_dropped(self, tmp_path: Path) -> None:
        second = Generation(collection=GENERATION.collection, number=2, dimension=4, embed_digest="f" * 64)
        with self.opened(tmp_path, prepared=False) as store:
            assert store.prepare(GENERATION)
            assert store.prepare(second)
            store.upsert(GENERATION, [made_points(1, point_ids(2), unit(0, 1))])
            store.upsert(second, [made_points(1, point_ids(1), unit(0, dimension=4))])
            assert store.generations() == ("notes.g1", "notes.g2")
            store.drop(GENERATION)
            store.drop(GENERATION)
            assert (store.generations(), store.count(second)) == (("notes.g2",), 1)
            assert store.prepare(GENERATION)
            assert store.count(GENERATION) == 0

    def test_what_cannot_be_stored_is_a_fault_of_the_caller(self, tmp_path: Path) -> None:
        ids = point_ids(1)
        bad = [
            made_points(1, ids, np.full((1, DIMENSION), np.nan, dtype=np.float32)),
            made_points(1, ids, np.zeros((1, DIMENSION), dtype=np.float32)),
            made_points(1, ids, unit(0, dimension=3)),
            made_points(1, ids, unit(0), text="lone \ud800"),
            made_points(1, ids, unit(0), n_chars=float("nan")),
            made_points(1, ids, unit(0), meta={"big": 2**64}),
            made_points(1, ids, unit(0), doc_version=7),
            made_points(1, ids, unit(0), doc_id="other"),
            made_points(1, ids, unit(0), instance=THEIRS),
            made_points(1, (PointId("no-uuid"),), unit(0)),
        ]
        with self.opened(tmp_path) as store:
            for points in bad:
                refuses(ValueError, partial(store.upsert, GENERATION, [points]))
            lone = payload(1, bad[0].document, text="lone \udc80")
            overwrite = PayloadOverwrite(id=ids[0], version=1, payload=lone)
            refuses(ValueError, lambda: store.overwrite_payloads(GENERATION, [overwrite]))
            refuses(ValueError, lambda: store.search(GENERATION, np.full(DIMENSION, np.inf, np.float32), 1, EVERYTHING))
            assert store.count(GENERATION) == 0

    def test_nothing_written_is_nothing_changed(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            store.upsert(GENERATION, [])
            store.overwrite_payloads(GENERATION, [])
            store.delete(GENERATION, [])
            store.flush(GENERATION)
            assert store.retrieve(GENERATION, []) == ()
            assert store.count(GENERATION) == 0
