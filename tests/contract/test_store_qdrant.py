import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestd.errors import ConfigurationError, IngestdError, StoreMismatch, StoreUnavailable
from ingestd.model.identity import Instance
from ingestd.model.point import Deletion, Generation, PayloadOverwrite
from ingestd.ports.store import Store
from ingestd.testing.store import DIMENSION, GENERATION, StoreContract, made_points, point_ids, unit
from ingestd_adapters.qdrant_payload import INDEXED
from ingestd_adapters.qdrant_server import QdrantServer
from ingestd_adapters.qdrant_store import qdrant
from tests.contract.qdrant_standin import Fault, StandIn

OURS = Instance("ours")
SECOND = Generation(collection=GENERATION.collection, number=2, dimension=DIMENSION, embed_digest="f" * 64)


class Served(StoreContract):
    version: str
    stand_in: StandIn

    @pytest.fixture(autouse=True)
    def _serve(self) -> Iterator[None]:
        self.stand_in = StandIn(version=self.version)
        yield
        self.stand_in.close()
        assert self.stand_in.refused == []

    def open_store(self, place: Path, instance: Instance) -> Store:
        return qdrant(instance, {"url": self.stand_in.url})


class TestServerOfTheFloorVersion(Served):
    version = "1.16"


class TestNewerServer(Served):
    version = "1.19"


if "QDRANT_URL" in os.environ:

    class TestRealServer(StoreContract):
        def open_store(self, place: Path, instance: Instance) -> Store:
            store = qdrant(instance, {"url": os.environ["QDRANT_URL"]})
            if not (place / "emptied").exists():
                (place / "emptied").touch()
                for name in store.generations():
                    store.drop(
                        Generation(
                            collection=GENERATION.collection,
                            number=int(name.rsplit(".g", 1)[1]),
                            dimension=DIMENSION,
                            embed_digest=GENERATION.embed_digest,
                        )
                    )
            return store


@pytest.fixture
def stand_in():
    with contextlib.closing(StandIn()) as running:
        yield running
        assert running.refused == []


@pytest.fixture
def store(stand_in):
    with contextlib.closing(opened(stand_in)) as made:
        made.prepare(GENERATION)
        yield made


def opened(stand_in: StandIn, **options: object) -> QdrantServer:
    made = qdrant(OURS, {"url": stand_in.url, **options})
    assert isinstance(made, QdrantServer)
    return made


def write(store: Store, version: int = 1, **more: object) -> None:
    store.upsert(GENERATION, [made_points(version, point_ids(2), unit(0, 1), **more)])


def versions(store: Store) -> list[int]:
    return [point.payload["doc_version"] for point in store.scroll(GENERATION, ("doc_version",))]


@pytest.mark.parametrize(
    "faults",
    [
        (Fault(kind="status", status=500), Fault(kind="status", status=503)),
        (Fault(kind="status", status=408),),
        (Fault(kind="status", status=429, headers={"Retry-After": "0"}), Fault(kind="status", status=429)),
        (Fault(kind="reset"),),
        (Fault(kind="lost"),),
        (Fault(kind="late"),),
        (Fault(kind="unfinished"),),
    ],
    ids=lambda faults: "-".join(f"{fault.kind}{fault.status if fault.kind == 'status' else ''}" for fault in faults),
)
def test_a_write_is_tried_again_until_it_is_done_once(stand_in, store, faults):
    stand_in.fail(*faults)
    write(store)
    assert not stand_in.faults
    assert versions(store) == [1, 1]


def test_every_step_of_making_a_collection_is_tried_again(stand_in):
    with contextlib.closing(opened(stand_in)) as store:
        for matching in ("PUT /collections/notes.g1$", "index", "aliases"):
            stand_in.fail(Fault(kind="lost", matching=matching))
        assert store.prepare(GENERATION)
        assert not stand_in.faults
        assert store.generations() == (GENERATION.name,)


def test_an_old_write_that_the_server_applies_late_changes_nothing(stand_in, store):
    write(store, text="one")
    stand_in.fail(Fault(kind="late", matching="PUT .*/points"))
    write(store, version=2, text="two")
    write(store, version=3, text="three")
    stand_in.apply_late()
    assert versions(store) == [3, 3]


def test_an_old_delete_that_the_server_applies_late_changes_nothing(stand_in, store):
    write(store)
    stand_in.fail(Fault(kind="late", matching="points/delete"))
    store.delete(GENERATION, [Deletion(id=point_ids(1)[0], below_version=2)])
    write(store, version=2)
    stand_in.apply_late()
    assert versions(store) == [2, 2]


def test_what_the_server_asks_us_to_wait_is_what_the_caller_is_told(stand_in, store):
    stand_in.fail(Fault(kind="status", status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(StoreUnavailable, match="does not serve now") as refused:
        write(store)
    assert refused.value.delay_seconds == 3600


def test_a_server_that_never_answers_is_unavailable():
    gone = StandIn()
    gone_url = gone.url
    gone.close()
    store = qdrant(OURS, {"url": gone_url, "retry_seconds": 0.2})
    with contextlib.closing(store), pytest.raises(StoreUnavailable, match=gone_url):
        store.count(GENERATION)


@pytest.mark.parametrize("status", [400, 409, 422])
def test_a_refusal_for_good_is_not_tried_again(stand_in, store, status):
    stand_in.fail(Fault(kind="status", status=status))
    stand_in.requests.clear()
    with pytest.raises(IngestdError, match="for good") as refused:
        write(store)
    assert not isinstance(refused.value, StoreUnavailable)
    assert len(stand_in.requests) == 1


def test_a_server_below_the_floor_is_named(stand_in):
    stand_in.reported_version = "1.15.4"
    with (
        contextlib.closing(opened(stand_in)) as store,
        pytest.raises(StoreMismatch, match=r"1\.15\.4.* 1\.16 or newer"),
    ):
        store.generations()


def test_the_key_comes_from_its_file(tmp_path):
    key = tmp_path / "key"
    key.write_text("secret\n")
    with contextlib.closing(StandIn(key="secret")) as guarded:
        with contextlib.closing(opened(guarded, api_key_file=str(key))) as store:
            assert store.prepare(GENERATION)
        with contextlib.closing(opened(guarded)) as store, pytest.raises(ConfigurationError, match="api_key_file"):
            store.generations()


@pytest.mark.parametrize("content", [None, "", "two\nlines"])
def test_a_key_file_that_holds_no_key_is_refused(tmp_path, content):
    key = tmp_path / "key"
    if content is not None:
        key.write_text(content)
    with pytest.raises(ConfigurationError, match="api_key_file"):
        qdrant(OURS, {"api_key_file": str(key)})


def test_readers_see_a_new_generation_only_when_it_is_published(stand_in, store):
    def alias() -> str:
        return stand_in.engine.run("GET", ["aliases"], None).aliases[0].collection_name

    assert alias() == "notes.g1"
    store.prepare(SECOND)
    assert alias() == "notes.g1"
    stand_in.fail(Fault(kind="lost", matching="POST /collections/aliases"))
    store.publish_alias(SECOND)
    store.publish_alias(SECOND)
    assert alias() == "notes.g2"


def test_a_collection_of_someone_else_is_left_alone(stand_in):
    stand_in.engine.run("PUT", ["collections", GENERATION.name], {"vectors": {"size": DIMENSION, "distance": "Cosine"}})
    with contextlib.closing(opened(stand_in)) as store:
        for touch in (store.prepare, store.drop, store.claim):
            with pytest.raises(StoreMismatch, match="not made by ingestd"):
                touch(GENERATION)
        assert store.generations() == ()


def test_a_collection_is_made_with_every_index_even_when_cut_short(stand_in):
    stand_in.fail(Fault(kind="status", status=400, matching="index"))
    with contextlib.closing(opened(stand_in)) as store:
        with pytest.raises(IngestdError):
            store.prepare(GENERATION)
        assert not store.prepare(GENERATION)
    found = stand_in.engine.run("GET", ["collections", GENERATION.name], None)
    assert set(found["payload_schema"]) == set(INDEXED)


def test_many_overwrites_are_few_requests(stand_in, store):
    ids = point_ids(600)
    write(store)
    stand_in.requests.clear()
    newer = made_points(2, ids, unit(*(n % DIMENSION for n in range(600))))
    rows = zip(ids, newer.payloads, strict=True)
    store.overwrite_payloads(
        GENERATION, [PayloadOverwrite(id=id_, version=2, payload=payload) for id_, payload in rows]
    )
    assert len(stand_in.requests) == 3
    assert set(versions(store)) == {2}


def test_a_closed_store_says_so(stand_in):
    store = opened(stand_in)
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="was closed"):
        store.count(GENERATION)
