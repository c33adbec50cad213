"""Which collection is written to, by whom, and what becomes of it."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "faults"))

from crash_world import COLLECTION, INSTANCE, NOW_NS, SPACE, World, fingerprint, killed_at, survives, version_of
from failing_store import FailingStore

from ingestd.errors import StoreMismatch, StoreUnavailable
from ingestd.model.identity import CollectionName
from ingestd.model.point import Claim, Generation
from ingestd.model.recipe import Stage
from ingestd.publish import swap
from ingestd.publish.collections import Collections, NeedsReindex
from ingestd.state import documents, generations, intents, sightings, sources

OTHER = replace(SPACE, stage=Stage(name="other", version=2), dimension=6)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "world")
    made.start()
    yield made
    made.kill()


def rows(world: World) -> list[tuple[int, str]]:
    with world.ledger.read() as transaction:
        return [(row.generation.number, row.state) for row in generations.all_generations(transaction)]


def again(world: World, *, state_id: str = "s", adopt: bool = False) -> Collections:
    return Collections(world.ledger, world.store, instance=INSTANCE, state_id=state_id, adopt=adopt)


def lose_ledger(world: World) -> None:
    world.kill()
    for file in world.directory.glob("ledger.sqlite*"):
        file.unlink()
    world.start()


def test_the_first_version_makes_the_first_generation(world: World):
    assert not world.collections.is_suspect()
    made = world.collections.target(COLLECTION, SPACE, NOW_NS)
    assert (made.generation.name, made.state) == ("documents.g1", "live")
    assert world.store.generations() == ("documents.g1",)
    assert world.collections.target(COLLECTION, SPACE, NOW_NS) == made


def test_another_vector_space_waits_for_a_reindex(world: World):
    world.collections.target(COLLECTION, SPACE, NOW_NS)
    with pytest.raises(NeedsReindex, match=r"ingestd reindex --force"):
        world.collections.target(COLLECTION, OTHER, NOW_NS)
    built = world.collections.build(COLLECTION, OTHER, NOW_NS)
    assert (built.generation.number, built.state) == (2, "building")
    assert world.collections.build(COLLECTION, OTHER, NOW_NS) == built
    assert world.collections.target(COLLECTION, OTHER, NOW_NS) == built
    old = world.collections.switch(COLLECTION)
    assert old is not None
    assert rows(world) == [(1, "retired"), (2, "live")]
    assert world.collections.switch(COLLECTION) is None
    world.collections.drop(old)
    assert (rows(world), world.store.generations()) == ([(2, "live")], ("documents.g2",))


def test_a_generation_whose_drop_was_cut_short_keeps_no_removal_from_happening(world: World):
    world.write(b"a", "one")
    world.sync()
    built = world.collections.build(COLLECTION, OTHER, NOW_NS)
    old = world.collections.switch(COLLECTION)
    assert old is not None
    for nth in range(1, 9):
        with killed_at(nth) as reached:
            survives(world, lambda: world.collections.drop(old))
        if reached[-1] == "ledger.drop-generation.before":
            break
    assert "documents.g1" not in world.store.generations()
    world.remove(b"a")
    world.scan()
    world.work()
    with world.ledger.read() as transaction:
        assert intents.is_outbox_empty(transaction)
        assert documents.in_generation(transaction, built.id) == ()


@pytest.mark.parametrize("nth", range(1, 7))
def test_a_drop_that_was_cut_short_is_done_by_the_next_run(world: World, nth: int):
    world.collections.target(COLLECTION, SPACE, NOW_NS)
    world.collections.build(COLLECTION, OTHER, NOW_NS)
    assert world.collections.switch(COLLECTION) is not None
    with killed_at(nth):
        assert not survives(world, world.collections.drop_retired) or nth > 4
    world.collections.drop_retired()
    assert (rows(world), world.store.generations()) == ([(2, "live")], ("documents.g2",))


def test_a_lost_ledger_goes_on_with_the_collection_that_it_used_to_serve(world: World):
    world.write(b"a", "one")
    world.sync()
    lose_ledger(world)
    assert world.collections.target(COLLECTION, SPACE, NOW_NS).generation.number == 1


def test_a_lost_ledger_with_another_embedder_begins_a_generation_above_the_survivors(world: World):
    world.collections.target(COLLECTION, SPACE, NOW_NS)
    lose_ledger(world)
    assert world.collections.target(COLLECTION, OTHER, NOW_NS).generation.number == 2
    assert world.store.generations() == ("documents.g1", "documents.g2")
    assert rows(world) == [(2, "live")]


def test_a_new_generation_is_never_one_that_the_store_still_has(world: World):
    world.collections.target(COLLECTION, SPACE, NOW_NS)
    world.store.prepare(Generation(collection=COLLECTION, number=7, dimension=9, embed_digest="x"))
    assert world.collections.build(COLLECTION, OTHER, NOW_NS).generation.number == 8


def test_a_collection_of_a_name_that_begins_alike_is_not_taken_for_a_survivor(world: World):
    for name in ("documents.g1x", "documents.g", "documents2", "other"):
        world.store.prepare(Generation(collection=CollectionName(name), number=4, dimension=9, embed_digest="x"))
    assert world.collections.target(COLLECTION, SPACE, NOW_NS).generation.number == 1


def test_a_collection_that_another_state_claims_is_refused_and_not_recorded(world: World):
    row = world.collections.target(COLLECTION, SPACE, NOW_NS)
    theirs = Claim(instance=INSTANCE, state_id="theirs", token="t")
    world.store.record_claim(row.generation, theirs)
    with pytest.raises(StoreMismatch, match=r"state theirs.*--adopt"):
        again(world).ready_all(NOW_NS)
    assert world.store.claim(row.generation) == theirs
    lose_ledger(world)
    with pytest.raises(StoreMismatch, match=r"another installation"):
        world.collections.target(COLLECTION, SPACE, NOW_NS)
    # Another collection's name, as the message advises, is then all that it takes.
    assert rows(world) == []
    assert world.collections.target(CollectionName("mine"), SPACE, NOW_NS).generation.name == "mine.g1"


def test_a_collection_that_another_state_claims_is_taken_over_when_asked(world: World):
    row = world.collections.target(COLLECTION, SPACE, NOW_NS)
    world.store.record_claim(row.generation, Claim(instance=INSTANCE, state_id="theirs", token="t"))
    again(world, adopt=True).ready_all(NOW_NS)
    claim = world.store.claim(row.generation)
    assert claim is not None
    assert claim.state_id == "s"


def test_a_clean_stop_leaves_nothing_to_compare_and_any_other_end_does(world: World):
    world.write(b"a", "one")
    world.sync()
    assert again(world).is_suspect()
    world.stop()
    world.start()
    assert not world.collections.is_suspect()
    assert [found.compared for found in world.collections.ready_all(NOW_NS)] == [False]
    assert world.collections.ready_all(NOW_NS) == []
    world.kill()
    world.start()
    assert world.collections.is_suspect()


def test_a_stop_with_work_left_in_the_store_is_no_clean_one(world: World):
    world.write(b"a", "one")
    world.sync()
    with world.ledger.read() as transaction:
        (document,) = documents.of_source(transaction, 1)
    with world.ledger.write("intent") as transaction:
        intents.open_intent(transaction, document.id, 9, [])
    world.stop()
    world.start()
    assert world.collections.is_suspect()


def test_a_store_that_cannot_flush_is_let_go_of_all_the_same(world: World):
    world.write(b"a", "one")
    world.sync()
    collections = Collections(
        world.ledger, FailingStore(world.store, 1, applied=False), instance=INSTANCE, state_id="s", adopt=False
    )
    collections.ready_all(NOW_NS)
    with pytest.raises(StoreUnavailable):
        collections.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        world.store.generations()


def test_one_collection_is_repaired_although_another_owes_too(world: World):
    """A second collection's outbox must wait until that one was prepared and compared itself."""
    world.write(b"a", "one", "two")
    world.sync()
    second = world.collections.target(CollectionName("zweite"), SPACE, NOW_NS)
    with world.ledger.read() as transaction:
        source = sources.by_path(transaction, 1, b"a")
    assert source is not None
    source = replace(source, fingerprint=fingerprint(("one", "two")), mime="text/plain")
    new = version_of(source, second, world.disk[b"a"])
    # Served in the second collection, taken out of the first, and killed before the store heard of it.
    with killed_at(99) as reached:
        survives(world, lambda: swap.publish(world.ledger, world.store, [new], NOW_NS))
    assert "publish.delete.before" in reached
    with world.ledger.read() as transaction:
        first = generations.live(transaction, COLLECTION)
        found = documents.in_generation(transaction, second.id)
    assert first is not None
    assert [document.version for document in found] == [1]
    world.store.drop(second.generation)
    with world.ledger.write("debts") as transaction:
        intents.post(transaction, found[0].id, 1, [swap.Deletion(id=new.ids[0], below_version=1)])
    collections = again(world)
    recovered = collections.ready_all(NOW_NS)
    assert [one.adopted for one in recovered] == [0, 1]
    assert (world.store.count(first.generation), world.store.count(second.generation)) == (0, 0)


def test_debts_of_a_failed_store_are_settled_without_a_restart(world: World):
    world.write(b"a", "one", "two")
    world.sync()
    real = world.store
    for nth in (2, 3, 4):
        world.store = world.collections.store = FailingStore(real, nth, applied=False)
        world.write(b"a", "one", f"other {nth}")
        world.scan()
        if survives(world, world.work):
            continue
        world.store = world.collections.store = real
        world.work()
        world.check_quiet()


def test_a_version_that_nobody_will_try_again_is_abandoned_without_a_restart(world: World):
    world.write(b"a", "one", "two")
    world.sync()
    real = world.store
    world.store = world.collections.store = FailingStore(real, 2, applied=False)
    world.write(b"a", "one", "worse")
    world.scan()
    assert not survives(world, world.work)
    world.store = world.collections.store = real
    row = world.collections.target(COLLECTION, SPACE, NOW_NS)
    assert real.count(row.generation) == 3
    with world.ledger.write("held") as transaction:
        sightings.hold(transaction, [1], "excluded")
    world.collections.settle(NOW_NS)
    assert real.count(row.generation) == 2
