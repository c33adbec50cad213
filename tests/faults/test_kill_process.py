"""The command line killed for real, at each failpoint it reaches; and each of its children alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ingestd.daemon import answer
from ingestd.daemon.owner import Owner, Ownership
from ingestd.daemon.passes import Hooks
from ingestd.errors import TransientError
from ingestd.failpoints import TRACE_VARIABLE, VARIABLE
from ingestd.model.identity import Instance
from ingestd.model.point import Generation
from ingestd.settings import DaemonSettings, EmbedderSettings, Settings
from ingestd_adapters import edge_directory
from ingestd_adapters.edge_shard import EdgeShards
from tests.small_pdf import PDF

HTML = "<html><body><h1>Page</h1><p>{0} of the page.</p><h2>More</h2><p>What stays of the page.</p></body></html>"
FIRST = {
    "a.md": "# One\n\nWhat stays.\n\n# Two\n\nWhat goes.\n",
    "b.txt": "A file that will be removed.\n",
    "c.html": HTML.format("A word"),
}
SECOND = {
    "a.md": "# One\n\nWhat stays.\n\n# Three\n\nWhat comes.\n",
    "c.html": HTML.format("Another word"),
    "d/\udcff.md": "# Four\n\nA new file.\n",
    "e.pdf": PDF,
}
MADE_ANEW = ("ingested_at", "modified_at", "doc_version")
"""Fields that differ between two states that hold the same."""


class Machine:
    """A folder with a state, and the command line over them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = place / "docs"
        self.state = place / "state"
        self.settings = place / "ingestd.toml"
        place.mkdir(parents=True, exist_ok=True)
        self.settings.write_text('[embedder]\nname = "hash"\n[daemon]\nsettle_seconds = 0\n')
        self.hold({})

    def hold(self, files: Mapping[str, str]) -> None:
        """Make the folder hold these files; what is as it should be is not touched."""
        self.folder.mkdir(exist_ok=True)
        for found in list(self.folder.rglob("*")):
            if found.is_file() and str(found.relative_to(self.folder)) not in files:
                found.unlink()
        for name, text in files.items():
            file = self.folder / name
            file.parent.mkdir(exist_ok=True)
            if not file.exists() or file.read_text() != text:
                file.write_text(text)

    def run(self, *arguments: str, kill: str = "", trace: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command; ``kill`` names the failpoint at which a process that reaches it kills itself."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("INGESTD_")}
        environment |= {"HOME": str(self.place), VARIABLE: f"{kill}:1" if kill else ""}
        environment[TRACE_VARIABLE] = str(trace) if trace else ""
        command = [sys.executable, "-m", "ingestd", "--config", str(self.settings), "--state-dir", str(self.state)]
        return subprocess.run(
            [*command, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=100
        )

    def sync(self, **more: Any) -> "subprocess.CompletedProcess[str]":
        return self.run("sync", str(self.folder), "--json", **more)

    def reached(self) -> list[str]:
        """Failpoints that a whole run reaches, each once, in order."""
        trace = self.place / "trace"
        trace.unlink(missing_ok=True)
        done = self.sync(trace=trace)
        assert done.returncode == 0, done.stderr
        return list(dict.fromkeys(trace.read_text().split()))

    def mended(self) -> None:
        """Run once more, undisturbed, and have the program verify itself."""
        done = self.sync()
        assert done.returncode == 0, done.stdout + done.stderr
        verified = self.run("verify", "--json")
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert json.loads(verified.stdout)["ok"]

    def points(self) -> dict[str, dict[str, Any]]:
        """What the store holds, read without the program: id to payload, without what is made anew."""
        directory = self.state / "store"
        (name,) = edge_directory.made(directory)
        record = edge_directory.read_record(directory / name)
        assert record is not None
        collection, _, number = name.rpartition(".g")
        shards = EdgeShards(directory, Instance("default"))
        generation = Generation(
            collection=collection,
            number=int(number),
            dimension=record.dimension,
            embed_digest=record.embed_digest,
        )
        try:
            ids = [point.id for point in shards.scroll(generation, ())]
            found = shards.retrieve(generation, ids)
        finally:
            shards.close()
        assert len(found) == len(ids)
        return {
            point.id: {key: value for key, value in point.payload.items() if key not in MADE_ANEW} for point in found
        }


def test_a_process_killed_again_and_again_loses_and_doubles_nothing(tmp_path: Path):
    machine = Machine(tmp_path)
    for files, kill in (
        (FIRST, "ledger.serve.after"),
        (SECOND, "publish.overwrite.after"),
        (SECOND, "ledger.retire.after"),
    ):
        machine.hold(files)
        done = machine.sync(kill=kill)
        assert done.returncode == -signal.SIGKILL, f"{kill}: {done.stdout}{done.stderr}"
    machine.mended()
    text = "\n".join(str(payload["text"]) for payload in machine.points().values())
    for wanted in ("What stays.", "What comes.", "Another word", "A new file."):
        assert text.count(wanted) == 1
    for gone in ("What goes.", "A word", "removed"):
        assert gone not in text


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Points of a state that was never disturbed, brought to the second content at once."""
    machine = Machine(tmp_path_factory.mktemp("whole"))
    machine.hold(SECOND)
    machine.mended()
    return machine.points()


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("begun", [False, True], ids=["from nothing", "from the first content"])
def test_killed_anywhere_the_next_run_brings_the_store_to_the_folder(
    tmp_path: Path, whole: dict[str, dict[str, Any]], begun: bool
):
    machine, kept = Machine(tmp_path / "machine"), tmp_path / "kept"
    if begun:
        machine.hold(FIRST)
        machine.mended()
        machine.state.rename(kept)
    machine.hold(SECOND)
    put_back(machine, kept)
    names = machine.reached()
    assert machine.points() == whole
    assert len(names) > 40
    wrong: dict[str, str] = {}
    for name in names:
        put_back(machine, kept)
        done = machine.sync(kill=name)
        try:
            assert done.returncode != 0 or not name.startswith(("ledger.", "publish.")), "it was not killed"
            machine.mended()
            assert machine.points() == whole, "the store holds something else"
        except AssertionError as error:
            wrong[name] = f"{error}\nkilled run: {done.returncode} {done.stdout[-500:]} {done.stderr[-1000:]}"
    assert wrong == {}


def put_back(machine: Machine, kept: Path) -> None:
    """Put the state back to what was kept, or to nothing."""
    shutil.rmtree(machine.state, ignore_errors=True)
    if kept.exists():
        shutil.copytree(kept, machine.state)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    settings = Settings(embedder=EmbedderSettings(name="hash"), daemon=DaemonSettings(settle_seconds=0.0))
    ownership = Ownership(settings=settings, configuration=None, state_dir=tmp_path / "state")
    with Owner(ownership, threading.Event()) as owned:
        yield owned


def children() -> dict[str, int]:
    """Child processes of this one that the program started: name of the module to process id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(parent) == os.getpid() and b"-m" in command:
            found[command[command.index(b"-m") + 1].decode()] = int(entry.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found in /proc")
def test_each_child_killed_alone_is_replaced_and_nothing_is_lost(tmp_path: Path, owner: Owner):
    machine = Machine(tmp_path)
    machine.hold(FIRST)
    arguments = {"folders": [str(machine.folder)]}
    answer.work(owner, "sync", arguments, Hooks())
    killed = set()
    for files in (SECOND, FIRST, SECOND):
        for module in sorted(children().keys() - killed):
            os.kill(children()[module], signal.SIGKILL)
            killed.add(module)
            break
        machine.hold(files)
        for _ in range(4):
            try:
                answer.work(owner, "sync", arguments, Hooks())
            except TransientError:
                continue
            parts = owner.parts(owner.register())
            if not answer.read(owner, parts, "status", {}, {})["deferred"]:
                break
            answer.change(parts, "retry", {"paths": [], "all": True})
        verified = answer.read(owner, owner.parts(owner.register()), "verify", {}, {})
        assert verified["ok"], verified
        assert verified["documents"] == len(files)
    assert len(killed) >= 2, killed
