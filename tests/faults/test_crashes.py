"""The swap protocol killed at every failpoint: nothing lost, nothing doubled, no reader without a document."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import crash_suite as suite
import pytest
from crash_suite import EVERY, Steps
from crash_world import INSTANCE, Folder, Violation, World, killed_at, survives
from mutants import MUTANTS, Mutant

from ingestd_adapters.edge_shard import EdgeShards

EDIT = frozenset({"edit"})
AT_ONCE = frozenset({"all at once"})
Part = Callable[[World, Steps], object]

PARTS: dict[str, Part] = {
    "killed": suite.kill_everywhere,
    "power lost": partial(suite.kill_everywhere, power="all"),
    "some writes lost": partial(suite.kill_everywhere, power="some"),
    "killed, then changed": partial(suite.kill_everywhere, then={b"a": ("alpha", "else"), b"y": ("gamma",)}),
    "killed, then reverted": partial(suite.kill_everywhere, then={b"a": suite.A}),
    "killed, then removed": partial(suite.kill_everywhere, then={}),
    "power lost, then reverted": partial(suite.kill_everywhere, power="all", then={b"a": suite.A}),
    "killed twice": partial(suite.kill_twice, pairs=40, seed=1),
    "the store fails": partial(suite.fail_everywhere, applied=False),
    "the store applies, then fails": partial(suite.fail_everywhere, applied=True),
    "writes come late": suite.apply_late,
    "the ledger is lost": suite.lose_ledger,
    "the store is lost": suite.empty_store,
    "an earlier ledger is restored": partial(suite.go_back, what="ledger"),
    "an earlier store is restored": partial(suite.go_back, what="store"),
}
QUICK: dict[str, tuple[Part, Steps]] = {
    "killed": (partial(suite.kill_everywhere, every=2), AT_ONCE),
    "power lost": (partial(suite.kill_everywhere, power="all", every=3), AT_ONCE),
    "some writes lost": (partial(suite.kill_everywhere, power="some", every=4), AT_ONCE),
    "killed, then reverted": (partial(suite.kill_everywhere, then={b"a": suite.A}, every=3), EDIT),
    "killed, then removed": (partial(suite.kill_everywhere, then={}, every=5), AT_ONCE),
    "killed twice": (partial(suite.kill_twice, pairs=8, seed=1), AT_ONCE),
    "the store fails": (PARTS["the store fails"], AT_ONCE),
    "writes come late": (suite.apply_late, EDIT),
    "the ledger is lost": (suite.lose_ledger, suite.QUICK),
    "the store is lost": (suite.empty_store, suite.QUICK),
    "an earlier ledger is restored": (PARTS["an earlier ledger is restored"], EDIT),
    "an earlier store is restored": (PARTS["an earlier store is restored"], EDIT),
}
CAUGHT_BY: dict[str, tuple[Part, Steps]] = {
    "delete first": (suite.kill_everywhere, EDIT),
    "serve before upsert": (suite.kill_everywhere, EDIT),
    "random ids": (suite.kill_everywhere, EDIT),
    "row dropped before delete": (PARTS["the store fails"], AT_ONCE),
    "no intent row": (PARTS["the store fails"], AT_ONCE),
    "delete by bare id": (suite.apply_late, EDIT),
    "kept payload before the commit": (suite.kill_everywhere, EDIT),
    "outbox not drained": (suite.kill_everywhere, EDIT),
    "outbox emptied before the flush": (PARTS["power lost"], EDIT),
    "version restarted after the loss of the ledger": (suite.lose_ledger, EDIT),
}
"""The part of the suite that looks for each wrong order."""


@pytest.mark.parametrize("part", QUICK)
def test_after_any_end_the_store_is_what_the_folder_says(tmp_path: Path, part: str):
    run, steps = QUICK[part]
    run(World(tmp_path / "world"), steps)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", PARTS)
def test_after_any_end_of_any_step_the_store_is_what_the_folder_says(tmp_path: Path, part: str):
    PARTS[part](World(tmp_path / "world"), EVERY)


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_a_wrong_order_does_not_survive(tmp_path: Path, mutant: Mutant):
    run, steps = CAUGHT_BY[mutant.name]
    with mutant.applied(), pytest.raises(Violation) as caught:
        run(World(tmp_path / "world"), steps)
    assert caught.value.check in mutant.checks, caught.value


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CAUGHT_BY)
def test_the_right_order_survives_what_catches_the_wrong_ones(tmp_path: Path, name: str):
    run, steps = CAUGHT_BY[name]
    run(World(tmp_path / "world"), steps)


TURNS: tuple[Folder, ...] = (
    {b"a": ("gamma", "alpha", "more"), b"n": ("alpha", "gamma")},
    {b"a": ("alpha", "beta", "gamma")},
    {b"a": ("alpha", "alpha"), b"d/\xff": ("beta",)},
    {},
)


def killed_in_turn(world: World, first: int, step: int, most: int) -> int:
    """Change the folder again and again, killed one failpoint later each time, each time repaired and compared."""
    world.set_folder(TURNS[1])
    world.start()
    world.sync()
    world.check_quiet()
    world.stop()
    killed = 0
    for turn, nth in enumerate(range(first, most, step)):
        world.set_folder(TURNS[turn % len(TURNS)])
        with killed_at(nth) as reached:
            whole = survives(world, lambda: (world.start(), world.sync(), world.stop()))
        if not whole:
            killed += 1
            world.kill()
        try:
            suite.recover(world)
        except Violation as violation:
            violation.add_note(f"turn {turn}, killed at {nth} {reached[-1]}")
            raise
    return killed


def edge_world(tmp_path: Path) -> World:
    return World(tmp_path / "world", lambda world: EdgeShards(world.directory / "store", INSTANCE))


def test_the_embedded_engine_survives_the_same(tmp_path: Path):
    assert killed_in_turn(edge_world(tmp_path), first=19, step=9, most=50) >= 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_embedded_engine_survives_every_failpoint(tmp_path: Path):
    assert killed_in_turn(edge_world(tmp_path), first=1, step=1, most=70) >= 40
