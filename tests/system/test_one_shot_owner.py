"""A pass without a daemon, and the commands beside it: each is a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ingestd.daemon.ask import ask
from ingestd.daemon.rendezvous import socket_path
from ingestd.errors import IngestdError
from tests.small_pdf import PDF

_CONFIGURATION = """
[embedder]
name = "hash"
[converter]
timeout_seconds = 600
[daemon]
settle_seconds = 0
shutdown_seconds = 1
[[root]]
name = "docs"
path = "docs"
"""
_DEADLINE_SECONDS = 90.0
_MOMENT = threading.Event()
"""Never set: a pause between two looks at other processes."""

Process = subprocess.Popen[str]


@dataclass
class Site:
    """One configuration, with what runs on it."""

    directory: Path
    started: list[Process] = field(default_factory=list[Process])
    stopped: list[int] = field(default_factory=list[int])
    """Converters that wait for a signal; one that goes on finds its owner dead and leaves."""

    @property
    def docs(self) -> Path:
        return self.directory / "docs"

    @property
    def socket(self) -> Path:
        return socket_path(self.directory / "state")

    def start(self, *arguments: str) -> Process:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("INGESTD_")}
        process = subprocess.Popen(
            [sys.executable, "-m", "ingestd", "--config", str(self.directory / "ingestd.toml"), *arguments],
            env={**plain, "INGESTD_STATE_DIR": str(self.directory / "state")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.directory,
        )
        self.started.append(process)
        return process

    def json(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        return ended(self.start(*arguments, "--json"), status)

    def paths(self) -> set[str]:
        return {hit["path"] for hit in self.json("search", "anything", "--limit", "1000")["hits"]}

    def paused_pass(self, *arguments: str) -> "tuple[Process, int]":
        """A pass in the middle of its work, and the converter that has to go on for it to end."""
        if not (self.docs / "slow.pdf").exists():
            (self.docs / "slow.pdf").write_text(PDF)
        owner = self.start(*arguments, "--json")
        self.stopped.append(stopped_converter(owner))
        return owner, self.stopped[-1]

    def is_answered(self) -> bool:
        try:
            ask(self.socket, "status", {}, timeout_seconds=10.0)
        except IngestdError:
            return False
        return True


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "ingestd.toml").write_text(_CONFIGURATION)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Alpha\n\nFirst text.\n")
    (tmp_path / "docs" / "b.md").write_text("# Beta\n\nSecond text.\n")
    made = Site(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
    for converter in made.stopped:
        if "ingestd.convert.worker" in _command(converter):
            os.kill(converter, signal.SIGCONT)
    for process in made.started:
        process.communicate()


def ended(process: Process, status: int = 0) -> dict[str, Any]:
    out, err = process.communicate(timeout=_DEADLINE_SECONDS)
    assert process.returncode == status, (out, err)
    value: dict[str, Any] = json.loads(out)
    return value


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds, up to a generous deadline."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        _MOMENT.wait(0.02)


def stopped_converter(owner: Process) -> int:
    """Stop the owner's converter as soon as it has one, long before it is ready to convert."""
    found: set[int] = set()

    def is_there() -> bool:
        assert owner.poll() is None, owner.communicate()
        found.update(pid for pid in _children(owner.pid) if "ingestd.convert.worker" in _command(pid))
        return bool(found)

    eventually(is_there)
    (converter,) = found
    os.kill(converter, signal.SIGSTOP)
    return converter


def _children(pid: int) -> set[int]:
    return {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _parent(entry) == pid}


def _parent(process: Path) -> int:
    try:
        return int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("command", ["sync", "reindex"])
def test_questions_are_answered_in_the_middle_of_a_pass(site: Site, command: str) -> None:
    served = {"a.md", "b.md"}
    if command == "reindex":
        served.add("slow.pdf")
        (site.docs / "slow.pdf").write_text(PDF)
    site.json("sync")
    if command == "reindex":
        # Another chunker, and no conversion left to cut: the file is converted again.
        with (site.directory / "ingestd.toml").open("a") as file:
            file.write("[chunker]\nmax_size = 100\n")
        shutil.rmtree(site.directory / "state" / "cache" / "conversions")
    owner, converter = site.paused_pass(command)
    assert site.paths() == served
    status = site.json("status")
    assert status["daemon"]["running"] is False
    assert (status["daemon"]["working"]["pid"], status["daemon"]["working"]["command"]) == (owner.pid, command)
    assert site.json("show", "docs/a.md")["title"] == "Alpha"
    assert site.json("confirm", "--list")["held"] == []
    if command == "sync":
        assert [one["path"] for one in site.json("verify", status=1)["unserved_sources"]] == ["slow.pdf"]
    assert owner.poll() is None
    os.kill(converter, signal.SIGCONT)
    assert ended(owner)["failed"] == []
    assert site.json("verify")["ok"]
    assert not site.socket.exists()


def test_a_second_pass_waits_for_its_turn_and_ends_well(site: Site) -> None:
    first, converter = site.paused_pass("sync")
    second = site.start("sync", "--json")
    assert "`ingestd sync`" in _first_line(second)
    os.kill(converter, signal.SIGCONT)
    assert ended(first)["added"] == 3
    after = ended(second)
    assert (after["seen"], after["unchanged"], after["converted"], after["failed"]) == (3, 3, 0, [])
    assert site.json("verify")["ok"]


def test_passes_started_at_once_all_end_well_and_nothing_is_done_twice(site: Site) -> None:
    reports = [ended(process) for process in [site.start("sync", "--json") for _ in range(3)]]
    assert sum(report["converted"] for report in reports) == 2
    assert all(report["seen"] == 2 for report in reports)
    assert site.json("verify")["ok"]


def test_a_small_change_is_taken_in_by_the_pass(site: Site) -> None:
    site.json("sync")
    owner, converter = site.paused_pass("sync")
    forgetting = site.start("forget", "docs/a.md", "--json")
    os.kill(converter, signal.SIGCONT)
    assert [one["path"] for one in ended(forgetting)["forgotten"]] == ["a.md"]
    ended(owner)
    assert site.paths() == {"b.md", "slow.pdf"}


def test_a_killed_owner_leaves_nothing_in_the_way(site: Site) -> None:
    site.json("sync")
    owner, converter = site.paused_pass("sync")
    waiting = site.start("sync", "--json")
    _first_line(waiting)
    owner.kill()
    os.kill(converter, signal.SIGCONT)
    assert ended(waiting)["failed"] == []
    assert site.paths() == {"a.md", "b.md", "slow.pdf"}
    assert site.json("verify")["ok"]
    eventually(lambda: not _command(converter))


def test_the_socket_of_a_killed_owner_is_nobody(site: Site) -> None:
    site.json("sync")
    owner, _ = site.paused_pass("sync")
    owner.kill()
    owner.wait()
    assert site.socket.exists()
    assert site.paths() == {"a.md", "b.md"}
    assert site.json("status")["daemon"].get("working") is None


def test_an_owner_told_to_stop_answers_what_it_was_asked(site: Site) -> None:
    site.json("sync")
    owner, converter = site.paused_pass("sync")
    asking = [site.start("search", "anything", "--json") for _ in range(4)]
    owner.send_signal(signal.SIGTERM)
    assert all({hit["path"] for hit in ended(one)["hits"]} == {"a.md", "b.md"} for one in asking)
    with suppress(ProcessLookupError):
        # Unless the searches took so long that the owner killed it.
        os.kill(converter, signal.SIGCONT)
    assert ended(owner, 130)["stopped"] is True
    eventually(lambda: not _command(converter))
    assert site.json("sync")["failed"] == []
    assert site.paths() == {"a.md", "b.md", "slow.pdf"}
    assert site.json("verify")["ok"]


def test_a_daemon_finds_the_state_owned_and_says_by_what(site: Site) -> None:
    owner, converter = site.paused_pass("sync")
    eventually(site.is_answered)
    daemon = site.start("run")
    _, err = daemon.communicate(timeout=_DEADLINE_SECONDS)
    assert daemon.returncode == 75
    assert f"process {owner.pid} (`ingestd sync`" in err
    os.kill(converter, signal.SIGCONT)
    ended(owner)


def _first_line(process: Process) -> str:
    assert process.stderr is not None
    return process.stderr.readline()
