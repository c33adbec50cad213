import contextlib
import json
import math

import numpy as np
import pytest
import qdrant_edge

from ingestd.errors import ConfigurationError, OutOfSpace, StoreMismatch, StoreUnavailable
from ingestd.model.identity import CollectionName, Instance
from ingestd.model.point import Claim, Deletion, Generation, PayloadOverwrite
from ingestd.testing.store import DIMENSION, GENERATION, made_points, point_ids, unit
from ingestd_adapters import qdrant_batches
from ingestd_adapters.edge_shard import EdgeShards
from ingestd_adapters.qdrant_payload import FOLDERS, INDEXED, folders, kept

OURS = Instance("ours")


@pytest.fixture
def shards(tmp_path):
    with contextlib.closing(EdgeShards(tmp_path, OURS, lock_wait_seconds=0)) as opened:
        yield opened


def test_a_scroll_gives_more_than_ten_thousand_points_in_order(shards):
    ids = point_ids(10_050)
    shards.prepare(GENERATION)
    vectors = np.tile(unit(0), (len(ids), 1))
    shards.upsert(GENERATION, [made_points(1, ids, vectors)])
    assert [point.id for point in shards.scroll(GENERATION, ())] == list(ids)
    assert shards.count(GENERATION) == len(ids)


def test_points_deleted_during_a_scroll_do_not_stop_it(shards):
    ids = point_ids(1_300)
    shards.prepare(GENERATION)
    shards.upsert(GENERATION, [made_points(1, ids, np.tile(unit(0), (len(ids), 1)))])
    scroll = shards.scroll(GENERATION, ())
    seen = [next(scroll).id]
    # The first of the next page is where the scroll goes on.
    shards.delete(GENERATION, [Deletion(id=point, below_version=2) for point in ids[900:1_100]])
    seen += [point.id for point in scroll]
    assert seen == [*ids[:1_000], *ids[1_100:]]


def test_every_field_of_the_contract_is_indexed(shards):
    shards.prepare(GENERATION)
    assert set(shards.shard(GENERATION).info().payload_schema) == set(INDEXED)


def test_the_folders_above_a_path_are_kept_beside_it():
    assert folders("a/b/c.md") == ["a", "a/b"]
    assert folders("c.md") == []
    assert kept({"path": "a/c.md"}) == {"path": "a/c.md", FOLDERS: ["a"]}
    with pytest.raises(ValueError, match="folders"):
        kept({"path": "a/c.md", "folders": []})


def test_a_full_disk_refuses_every_write_before_the_engine_sees_it(tmp_path):
    with contextlib.closing(EdgeShards(tmp_path, OURS)) as roomy:
        roomy.prepare(GENERATION)
        written = made_points(1, point_ids(1), unit(0))
        roomy.upsert(GENERATION, [written])
    later = made_points(2, point_ids(1), unit(1))
    overwrite = PayloadOverwrite(id=later.ids[0], version=2, payload=later.payloads[0])
    with contextlib.closing(EdgeShards(tmp_path, OURS, min_free_bytes=2**60)) as full:
        for write in (
            lambda: full.upsert(GENERATION, [later]),
            lambda: full.overwrite_payloads(GENERATION, [overwrite]),
            lambda: full.delete(GENERATION, [Deletion(id=later.ids[0], below_version=2)]),
            lambda: full.prepare(Generation(collection=GENERATION.collection, number=2, dimension=2, embed_digest="")),
        ):
            with pytest.raises(OutOfSpace, match="min_free_bytes"):
                write()
        assert [point.payload for point in full.retrieve(GENERATION, later.ids)] == [written.payloads[0]]


def test_files_that_another_program_has_open_are_named(shards, tmp_path):
    shards.prepare(GENERATION)
    other = qdrant_edge.EdgeShard.load(str(tmp_path / GENERATION.name / "shard"))
    try:
        with pytest.raises(StoreUnavailable, match=str(tmp_path)):
            shards.count(GENERATION)
    finally:
        other.close()
    assert shards.count(GENERATION) == 0


def test_a_directory_of_someone_else_is_left_alone(shards, tmp_path):
    (tmp_path / GENERATION.name).mkdir(parents=True)
    for touch in (shards.prepare, shards.drop, shards.claim):
        with pytest.raises(StoreMismatch, match="not made by ingestd"):
            touch(GENERATION)
    assert shards.generations() == ()
    assert (tmp_path / GENERATION.name).is_dir()


@pytest.mark.parametrize("content", ["", "[]", '{"made_by": "other", "claim": null}', '{"made_by": "ingestd"}'])
def test_a_damaged_record_is_named_with_the_way_out(shards, tmp_path, content):
    record = tmp_path / GENERATION.name / "ingestd.json"
    record.parent.mkdir(parents=True)
    record.write_text(content)
    with pytest.raises(StoreMismatch, match=r"ingestd\.json is damaged"):
        shards.prepare(GENERATION)


def test_the_record_says_who_made_it_and_for_which_vectors(shards, tmp_path):
    shards.prepare(GENERATION)
    claim = Claim(instance=OURS, state_id="s", token="t")
    shards.record_claim(GENERATION, claim)
    record = json.loads((tmp_path / GENERATION.name / "ingestd.json").read_bytes())
    assert record == {
        "made_by": "ingestd",
        "schema": 1,
        "dimension": DIMENSION,
        "distance": "cosine",
        "embed_digest": GENERATION.embed_digest,
        "claim": {"instance": OURS, "state_id": "s", "token": "t"},
    }


def test_what_a_cut_short_making_or_dropping_left_is_not_a_generation(shards, tmp_path):
    for name in (".unfinished-notes.g1", ".dropped-notes.g1"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "ingestd.json").write_text("{}")
    assert shards.generations() == ()
    assert shards.prepare(GENERATION)
    shards.drop(GENERATION)
    assert [entry.name for entry in tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["a/b", ".hidden", "nul\0"])
def test_a_collection_whose_name_is_no_directory_is_refused(shards, name):
    with pytest.raises(ConfigurationError, match="cannot be called"):
        shards.prepare(Generation(collection=CollectionName(name), number=1, dimension=2, embed_digest=""))


def test_batches_are_bounded_in_points():
    ids = point_ids(1_000)
    cut = list(qdrant_batches.upserts(OURS, GENERATION, [made_points(1, ids, np.tile(unit(0), (1_000, 1)))]))
    assert [len(batch.ids) for batch in cut] == [256, 256, 256, 232]
    assert [point for batch in cut for point in batch.ids] == list(ids)


def test_batches_are_bounded_in_bytes_unless_one_point_is_larger():
    third = "x" * math.ceil(qdrant_batches.MOST_BYTES / 2.5)
    small = made_points(1, point_ids(5), unit(0, 1, 2, 3, 4), text=third)
    big = made_points(1, point_ids(1, first=9), unit(0), text=third * 4)
    cut = list(qdrant_batches.upserts(OURS, GENERATION, [small, big]))
    assert [len(batch.ids) for batch in cut] == [2, 2, 1, 1]
