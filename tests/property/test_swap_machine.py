"""Whatever happens to the folder, the process, the power and the store's answers: after quiet, the store is the folder."""

import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

sys.path.append(str(Path(__file__).parents[1] / "faults"))

from crash_world import World, killed_at, survives
from failing_store import FailingStore

from ingestd.testing.memory_store import Shelf

PATHS = st.sampled_from([b"a", b"b", b"d/c", b"d/\xff"])
TEXTS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=1, max_size=4).map(tuple)
NTH = st.integers(1, 45)


class Swaps(RuleBasedStateMachine):
    """The model is the folder itself: what each path holds."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="ingestd-swaps-")
        self.world = World(Path(self._folder.name) / "world")
        self.history: list[dict[bytes, tuple[str, ...]]] = [{}]
        self.running = False
        self.quiet = False
        self.adopts = False
        """Whether something was lost that the ledger could not know of."""
        self.start()

    def teardown(self) -> None:
        if self.running:
            self.world.kill()
        self._folder.cleanup()

    # The folder

    @rule(path=PATHS, texts=TEXTS)
    def write(self, path, texts) -> None:
        self.world.write(path, *texts)
        self._changed()

    @rule(path=PATHS)
    def remove(self, path) -> None:
        self.world.remove(path)
        self._changed()

    @rule(old=PATHS, new=PATHS)
    def rename(self, old, new) -> None:
        if old in self.world.disk and old != new:
            self.world.disk[new] = self.world.disk.pop(old)
            self._changed()

    @rule(back=st.integers(1, 4))
    def revert(self, back) -> None:
        self.world.set_folder(self.history[-min(back, len(self.history))])
        self._changed()

    # The process

    @rule()
    def sync(self) -> None:
        self._run()
        self.world.sync()
        self.quiet = True

    @rule(nth=NTH, power=st.sampled_from(["none", "all", "some"]), seed=st.integers(0, 99))
    def crash(self, nth, power, seed) -> None:
        self._run()
        with killed_at(nth, self.world):
            survives(self.world, lambda: (self.world.sync(), self.world.stop()))
        self._end(power, seed)

    @rule(nth=NTH, power=st.sampled_from(["none", "all", "some"]), seed=st.integers(0, 99))
    def crash_at_start(self, nth, power, seed) -> None:
        if self.running:
            self._end(power, seed)
        with killed_at(nth):
            survives(self.world, self.world.start)
        self.running = True
        self._end(power, seed)

    @rule(nth=st.integers(1, 12), applied=st.booleans())
    def store_fails(self, nth, applied) -> None:
        self._run()
        real = self.world.store
        self.world.store = self.world.collections.store = FailingStore(real, nth, applied=applied)
        survives(self.world, self.world.sync)
        self.world.store = self.world.collections.store = real
        self.quiet = False

    @precondition(lambda self: self.running)
    @rule()
    def stop(self) -> None:
        self.world.stop()
        self.running = False

    @rule()
    def start(self) -> None:
        self._run()

    @rule(what=st.sampled_from(["ledger", "store"]))
    def lose(self, what) -> None:
        if self.running:
            self._end("none", 0)
        if what == "store":
            self.world.shelf = Shelf()
        else:
            for file in self.world.directory.glob("ledger.sqlite*"):
                file.unlink()
        self.adopts = True
        self._forgive()

    # What must hold

    @invariant()
    def the_store_is_the_folder_after_quiet(self) -> None:
        if self.quiet and self.running:
            self.world.check_quiet()

    @invariant()
    def readers_see_whole_versions(self) -> None:
        if self.running and not self.adopts:
            self.world.check_readers()

    def _changed(self) -> None:
        self.history.append({path: file.texts for path, file in self.world.disk.items()})
        self.quiet = False

    def _run(self) -> None:
        if not self.running:
            found = self.world.start()
            self.running = True
            adopted = sum(one.adopted for one in found)
            assert self.adopts or not adopted, f"{adopted} documents were not what the ledger expected of a crash"
            if self.adopts:
                self.world.sync()
                self.world.check_quiet()
                self.adopts, self.quiet = False, True

    def _end(self, power: str, seed: int) -> None:
        with suppress(AttributeError):
            self.world.kill(power=power != "none", chance=Random(seed) if power == "some" else None)
        self.running = self.quiet = False

    def _forgive(self) -> None:
        self.world.exact = False
        self.world.readable = {path: {(), *texts} for path, texts in self.world.readable.items()}


TestSwaps = Swaps.TestCase
TestSwaps.settings = settings(
    max_examples=12,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
