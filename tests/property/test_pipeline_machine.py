"""Whatever happens to folders, disks, settings and runs: a file that was served and not deleted can always be found."""

import re
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ingestd import failpoints
from ingestd.chunk import ChunkOptions
from ingestd.daemon import changes, passes
from ingestd.daemon.passes import Hooks
from ingestd.errors import IngestdError, StoreMismatch
from ingestd.state import generations
from ingestd.state.engine import Ledger
from ingestd.state.schema import migrate
from ingestd.testing.memory_store import MemoryStore
from tests.unit.pipeline.site import INSTANCE, Site, SiteOwner

ROOTS = st.sampled_from(["docs", "more"])
NAMES = st.sampled_from(["a.md", "b.md", "sub/c.md", "sub/d.md"])
WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=1, max_size=3, unique=True)
ENDS = st.one_of(st.none(), st.tuples(st.sampled_from(["stop", "die"]), st.integers(1, 60)))
"""How a run ends: by itself, or told to stop, or killed, at the failpoint of that number."""


class Killed(BaseException):
    """Stands for SIGKILL."""


@cache
def empty_ledger() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        migrate(ledger)
        ledger.close()
        return (Path(folder) / "ledger.sqlite").read_bytes()


class Folders(RuleBasedStateMachine):
    """The model is what a person would say: which files are mine, wherever their disk is at the moment."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="ingestd-folders-")
        self.top = Path(self._folder.name)
        (self.top / "state").mkdir()
        (self.top / "state" / "ledger.sqlite").write_bytes(empty_ledger())
        self.ledger = Ledger(self.top / "state" / "ledger.sqlite")
        self.site = Site(self.top, self.ledger)
        self.site.root("more")
        self.files: dict[str, dict[str, list[str] | None]] = {"docs": {}, "more": {}}
        """Words of each file, ``None`` of one that is damaged."""
        self.away: set[str] = set()
        self.out: set[str] = set()
        """Roots that are not configured."""
        self.collections = {"docs": "documents", "more": "documents"}
        self.owed: set[str] = set()
        """Files that were found once, and that nobody deleted since."""

    def teardown(self) -> None:
        failpoints.arm("")
        self.site.close()
        self.ledger.close()
        self._folder.cleanup()

    @initialize(seconds=st.sampled_from([0.0, 2.0]))
    def begin(self, seconds) -> None:
        self.site.settle_seconds = seconds
        for root, name in (("docs", "a.md"), ("docs", "sub/c.md"), ("more", "a.md"), ("more", "b.md")):
            self.write(root, name, ["alpha", "beta"] if root == "docs" else ["gamma"])
        self.sync(None)

    # What people do with their files

    @rule(root=ROOTS, name=NAMES, words=WORDS)
    def write(self, root, name, words) -> None:
        if root not in self.away:
            self.site.write(name, "".join(f"# {word}\n\nOn {word} at length.\n\n" for word in words), root=root)
            self.files[root][name] = words

    @rule(root=ROOTS, name=NAMES)
    def damage(self, root, name) -> None:
        if root not in self.away and name in self.files[root]:
            (self.top / root / name).write_bytes(b"")
            self.files[root][name] = None

    @rule(root=ROOTS, name=NAMES)
    def delete(self, root, name) -> None:
        if root not in self.away and name in self.files[root]:
            (self.top / root / name).unlink()
            del self.files[root][name]
            self.owed.discard(f"{root}/{name}")

    @rule(root=ROOTS, old=NAMES, new=NAMES)
    def rename(self, root, old, new) -> None:
        files = self.files[root]
        if root not in self.away and old in files and old != new:
            (self.top / root / new).parent.mkdir(exist_ok=True)
            (self.top / root / old).rename(self.top / root / new)
            files[new] = files.pop(old)
            self.owed -= {f"{root}/{old}", f"{root}/{new}"}

    # What happens to disks

    @rule(root=ROOTS, stray=st.booleans())
    def unmount(self, root, stray) -> None:
        if root not in self.away:
            (self.top / root).rename(self.top / f"{root}-away")
            (self.top / root).mkdir()
            self.away.add(root)
            if stray:
                self.site.write("stray.md", "# stray\n\nOf the disk below.\n", root=root)

    @rule(root=ROOTS)
    def mount(self, root) -> None:
        if root in self.away:
            shutil.rmtree(self.top / root)
            (self.top / f"{root}-away").rename(self.top / root)
            self.away.discard(root)

    # What people do with their settings

    @rule()
    def other_embedder(self) -> None:
        self.site.embedder.version += 1
        self._renew()

    @rule()
    def embedder_of_before(self) -> None:
        if self.site.embedder.version > 1:
            self.site.embedder.version -= 1
            self._renew()

    @rule(size=st.sampled_from([None, 16, 40]))
    def other_sizes(self, size) -> None:
        self.site.chunker = ChunkOptions(max_size=size)

    @rule(root=ROOTS, collection=st.sampled_from(["documents", "elsewhere"]))
    def move_to_collection(self, root, collection) -> None:
        if root not in self.out:
            self.collections[root] = collection
            self.site.root(root, collection=collection)

    @rule()
    def leave_out(self) -> None:
        self.site.unroot("more")
        self.out.add("more")

    @rule()
    def take_in(self) -> None:
        self.out.discard("more")
        self._configure("more")

    # Runs

    @rule(end=ENDS)
    def sync(self, end) -> None:
        self._run(end, lambda owner: passes.sync(owner, [], Hooks()))

    @rule(end=ENDS, force=st.booleans())
    def reindex(self, end, force) -> None:
        self._run(end, lambda owner: passes.reindex(owner, {"force": force}, Hooks()))

    @rule()
    def quiet(self) -> None:
        """All disks are there, everything is configured, and nothing happens any more."""
        for root in ("docs", "more"):
            self.mount(root)
            self.out.discard(root)
            self._configure(root)
        self.reindex(None, True)
        for _ in range(3):
            self.sync(None)
        found = self._found()
        states = self.site.states()
        for root, files in self.files.items():
            for name, words in files.items():
                if words is not None:
                    assert found.get(f"{root}/{name}", ()) == sorted(words), states
        for path in found:
            root, _, name = path.partition("/")
            # A folder that was emptied looks like a disk that is not mounted.
            if self.files[root].get(name) is None and self.site.root_state(root) != "vanished":
                assert states.get(path) in ("held", "quarantined"), (path, states)
        self._check_single_versions()

    @rule()
    def confirm(self) -> None:
        if not self.away and not self.out:
            changes.confirm(self._owner().parts(self.site.register()), None, only_list=False)

    @invariant()
    def nothing_is_lost(self) -> None:
        found = self._found()
        assert self.owed <= found.keys(), (self.site.states(), self._states_of_generations())
        self.owed |= {path for path in found if path.partition("/")[2] in self.files[path.partition("/")[0]]}

    def _owner(self):
        return SiteOwner(self.site)

    def _run(self, end, work) -> None:
        if end is not None:
            kind, nth = end
            failpoints.arm("", reached=self._ending(kind, nth))
        try:
            work(self._owner())
        except Killed:
            failpoints.arm("")
            self.site.restart(clean=False)
        except IngestdError:
            # Such as a reindex that wants `--force`.
            pass
        finally:
            failpoints.arm("")
            self.site.stop.clear()
            self.site.stop.waits = 0

    def _ending(self, kind: str, nth: int):
        left = nth

        def reached(_name: str) -> None:
            nonlocal left
            left -= 1
            if left == 0 and kind == "stop":
                self.site.stop.set()
            if left <= 0 and kind == "die":
                raise Killed

        return reached

    def _configure(self, root: str) -> None:
        self.site.root(root, collection=self.collections[root])

    def _renew(self) -> None:
        if hasattr(self.site, "_made"):
            self.site.renew_engines()

    def _payloads(self):
        store = MemoryStore(INSTANCE, self.site.shelf)
        with self.ledger.read() as transaction:
            live = [one for one in generations.all_generations(transaction) if one.state == "live"]
        for generation in live:
            # A run that was killed may have stated a collection that it did not get to make.
            with suppress(StoreMismatch):
                for point in store.scroll(generation.generation, ("path", "root", "body", "doc_version")):
                    yield generation.generation.collection, point.payload

    def _found(self) -> dict[str, list[str]]:
        """Words of each file that readers find, in order."""
        words: dict[str, set[str]] = {}
        for _, payload in self._payloads():
            found = re.findall(r"On (\w+) at length", payload["body"])
            words.setdefault(f"{payload['root']}/{payload['path']}", set()).update(found)
        return {path: sorted(found) for path, found in words.items() if not path.endswith("/stray.md")}

    def _check_single_versions(self) -> None:
        versions: dict[str, set[tuple[str, int]]] = {}
        for collection, payload in self._payloads():
            key = f"{payload['root']}/{payload['path']}"
            versions.setdefault(key, set()).add((collection, payload["doc_version"]))
        assert all(len(found) == 1 for found in versions.values()), versions

    def _states_of_generations(self) -> list[tuple[int, str]]:
        with self.ledger.read() as transaction:
            return [(row.generation.number, row.state) for row in generations.all_generations(transaction)]


Folders.TestCase.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestFolders = Folders.TestCase


@pytest.mark.slow
class TestFoldersAtLength(Folders.TestCase):
    settings = settings(
        max_examples=400, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
