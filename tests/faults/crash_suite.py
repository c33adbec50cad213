"""Scenarios over a :class:`~crash_world.World`, each killed at every failpoint in turn and compared with the folder."""

import copy
from collections.abc import Callable, Iterator
from random import Random

from crash_world import (
    Folder,
    Snapshot,
    Texts,
    Violation,
    World,
    killed_at,
    restore,
    restore_ledger,
    snapshot,
    survives,
)
from failing_store import FailingStore, LateStore

from ingestd.testing.memory_store import MemoryStore, Shelf

A: Texts = ("alpha", "beta", "gamma")
STEPS: tuple[tuple[str, Folder], ...] = (
    ("add", {b"a": A}),
    ("edit", {b"a": ("alpha", "other", "gamma")}),
    ("add another", {b"a": ("alpha", "other", "gamma"), b"z": A}),
    ("all at once", {b"a": ("gamma", "alpha", "more"), b"n": ("alpha", "gamma")}),
    ("shrink", {b"a": ("alpha",)}),
    ("revert", {b"a": A}),
    ("equal text elsewhere", {b"a": A, b"d/b": ("alpha", "beta")}),
    ("duplicates", {b"a": ("alpha", "alpha", "beta", "alpha"), b"d/b": ("alpha", "beta")}),
    ("fewer duplicates", {b"a": ("beta", "alpha"), b"d/b": ("beta", "new", "alpha")}),
    ("rename", {b"a": ("beta", "alpha"), b"d/\xff": ("beta", "new", "alpha")}),
    ("replace", {b"a": ("nothing", "kept"), b"d/\xff": ("beta",)}),
    ("remove one", {b"d/\xff": ("beta",)}),
    ("remove the other", {}),
)
"""What the folder comes to hold, step by step."""
EVERY = frozenset(name for name, _ in STEPS)
QUICK = frozenset({"edit", "all at once"})
"""Steps that between them add, keep, drop, add documents, remove documents."""
Steps = frozenset[str]


def at_rest(world: World, steps: Steps) -> Iterator[tuple[str, Folder, Snapshot, Snapshot]]:
    """Each of the steps with the states before and after it; the world stands before the step when it is given.

    Readers are looked at throughout every step's own run.
    """
    left = set(steps)
    for name, folder in STEPS:
        before = snapshot(world)
        with killed_at(0, world):
            run(world, folder)
        after = snapshot(world)
        if name in left:
            left.remove(name)
            yield name, folder, before, after
            restore(world, after)
        if not left:
            return


def run(world: World, folder: Folder) -> None:
    """One clean run that brings the folder's new content in."""
    world.set_folder(folder)
    world.start()
    world.sync()
    world.check_quiet()
    world.stop()


def lose(world: World, power: str, nth: int) -> None:
    """End the world's process: ``none`` keeps what the store holds, ``all`` and ``some`` lose what was not flushed."""
    world.kill(power=power != "none", chance=Random(nth) if power == "some" else None)


def recover(world: World, *, adopts: bool = False) -> None:
    """Start again after an end, work until all is quiet, compare; then see that a clean stop leaves nothing to repair."""
    found = world.start()
    adopted = sum(one.adopted for one in found)
    if adopted and not adopts:
        raise Violation("unexplained", f"{adopted} documents were not what the ledger expected of a crash")
    world.sync()
    world.check_quiet()
    world.stop()
    world.start()
    if world.collections.is_suspect():
        raise Violation("unclean", "a clean stop leaves something to repair")
    world.kill()


def kill_everywhere(
    world: World, steps: Steps, *, power: str = "none", every: int = 1, then: Folder | None = None
) -> int:
    """Kill each step at each failpoint; restart with the same folder, or with what ``then`` makes of it."""
    killed = 0
    for name, folder, before, _ in at_rest(world, steps):
        nth = 1 - every
        while True:
            nth += every
            restore(world, before)
            # What readers see until then was looked at in the whole run.
            with killed_at(nth) as reached:
                if survives(world, lambda folder=folder: run(world, folder)):
                    break
                lose(world, power, nth)
            killed += 1
            if then is not None:
                world.set_folder(then)
            try:
                with killed_at(0, world):
                    world.check_readers_at_rest()
                    recover(world)
            except Violation as violation:
                violation.add_note(f"step {name!r}, killed at {nth} {reached[-1]}, power {power}, then {then}")
                raise
    return killed


def kill_twice(world: World, steps: Steps, *, pairs: int, seed: int) -> int:
    """Kill a step, then its repair, at random failpoints."""
    chance = Random(seed)
    killed = 0
    for name, folder, before, _ in at_rest(world, steps):
        for _ in range(pairs):
            restore(world, before)
            first, second = chance.randrange(1, 30), chance.randrange(1, 30)
            power = chance.choice(("none", "all", "some"))
            with killed_at(first, world) as reached:
                if survives(world, lambda folder=folder: run(world, folder)):
                    continue
                lose(world, power, first)
            other = chance.choice([folder, *(folder for _, folder in STEPS)])
            try:
                with killed_at(second, world) as again:
                    if survives(world, lambda other=other: (world.set_folder(other), recover(world))):
                        continue
                    lose(world, power, second)
                killed += 1
                recover(world)
            except Violation as violation:
                violation.add_note(f"step {name!r}, killed at {reached[-1]}, then {again[-1:]}, power {power}")
                raise
    return killed


def fail_everywhere(world: World, steps: Steps, *, applied: bool) -> int:
    """Let each call of the store fail in turn, before or after it was applied; the process goes on."""
    failed = 0
    for name, folder, before, _ in at_rest(world, steps):
        for later_name, later in (("the same", folder), ("another", {b"a": ("beta",)}), ("nothing", {})):
            nth = 0
            while True:
                nth += 1
                restore(world, before)
                world.start()
                failing = FailingStore(world.store, nth, applied=applied)
                use(world, failing)
                world.set_folder(folder)
                if survives(world, world.sync):
                    world.kill()
                    break
                failed += 1
                world.set_folder(later)
                try:
                    with killed_at(0, world):
                        world.sync()
                        world.check_quiet()
                except Violation as violation:
                    violation.add_note(f"step {name!r}, call {nth} {failing.failed} failed, then {later_name}")
                    raise
                world.stop()
    return failed


def apply_late(world: World, steps: Steps) -> int:
    """Let each write time out and reach the store only after a later version was served."""
    late = 0
    for name, folder, before, _ in at_rest(world, steps):
        between: list[tuple[Folder, ...]] = [
            (folder, {}, folder),
            (folder, {b"a": A}),
            (folder, {b"a": ("alpha",), b"z": A}),
            ({b"a": ("alpha", "other", "gamma"), b"d/b": ("alpha", "beta")},),
        ]
        for later in between:
            nth = 0
            while True:
                nth += 1
                restore(world, before)
                world.start()
                delayed = LateStore(world.store, nth)
                use(world, delayed)
                world.set_folder(folder)
                if survives(world, world.sync):
                    world.kill()
                    break
                late += 1
                try:
                    for next_folder in later:
                        world.set_folder(next_folder)
                        world.sync()
                    world.check_quiet()
                    delayed.arrive()
                    if delayed.kind == "upsert":
                        # A point that was dropped since may be back: only a look at the whole store finds it.
                        world.kill()
                        recover(world, adopts=True)
                    else:
                        world.check_quiet()
                        world.stop()
                except Violation as violation:
                    violation.add_note(f"step {name!r}, {delayed.kind} {nth} came late, after {later}")
                    raise
    return late


def use(world: World, store: MemoryStore | FailingStore | LateStore) -> None:
    """Have the world write through this store."""
    world.store = store
    world.collections.store = store


def lose_ledger(world: World, steps: Steps) -> None:
    """Delete the ledger after each step; the next run changes something."""
    _after_each(world, steps, lambda world, _: restore_ledger(world, _EMPTY))


def go_back(world: World, steps: Steps, *, what: str) -> None:
    """Put the ledger or the store of each earlier moment back after each step."""
    for earlier in _moments(world, steps):

        def back(world: World, _: Snapshot, earlier: Snapshot = earlier) -> None:
            if what == "ledger":
                restore_ledger(world, earlier)
            else:
                world.shelf = _copied(earlier.shelf)

        _after_each(world, steps, back)


def empty_store(world: World, steps: Steps) -> None:
    """Lose the whole store after each step."""
    _after_each(world, steps, lambda world, _: setattr(world, "shelf", Shelf()))


def _after_each(world: World, steps: Steps, lose_something: Callable[[World, Snapshot], None]) -> None:
    start = snapshot(world)
    for name, folder, _, after in at_rest(world, steps):
        changes: tuple[Folder | None, ...] = (None, {**folder, b"a": ("alpha", "changed")}, {b"new": A})
        for change in changes:
            restore(world, after)
            lose_something(world, after)
            versions = {path: set(texts) for path, texts in world.readable.items()}
            if change is not None:
                world.set_folder(change)
            world.exact = False
            world.readable = {path: {(), *texts} for path, texts in versions.items()}
            try:
                with killed_at(0, world):
                    recover(world, adopts=True)
                _versions_go_up(world, after)
            except Violation as violation:
                violation.add_note(f"after step {name!r}, then {change}")
                raise
    restore(world, start)


def _versions_go_up(world: World, before: Snapshot) -> None:
    """No point carries a version that the store held before under another content."""
    for name, collection in before.shelf.collections.items():
        now = world.shelf.collections[name].points
        for id_, kept in collection.points.items():
            if id_ in now and now[id_].doc_version < kept.doc_version:
                raise Violation("version", f"{id_} went from {kept.doc_version} to {now[id_].doc_version}")


def _moments(world: World, steps: Steps) -> list[Snapshot]:
    start = snapshot(world)
    found = []
    for _, folder, before, _ in at_rest(world, steps):
        found.append(before)
        # A copy taken while work was in hand, beside those taken at rest.
        restore(world, before)
        with killed_at(14):
            if survives(world, lambda folder=folder: run(world, folder)):
                continue
            world.kill()
        found.append(snapshot(world))
    restore(world, start)
    return found


def _copied(shelf: Shelf) -> Shelf:
    return copy.deepcopy(shelf)


_EMPTY = Snapshot(ledger=None, shelf=Shelf(), disk={}, readable={}, writes=0)
