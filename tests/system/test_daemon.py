"""The daemon as its users meet it: a process, a folder, the command line beside it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_CONFIGURATION = """
[embedder]
name = "hash"
[daemon]
settle_seconds = 0.2
[[root]]
name = "docs"
path = "docs"
"""
_DEADLINE_SECONDS = 60.0
_MOMENT = threading.Event()
"""Never set: a pause between two looks at other processes."""


@dataclass
class Site:
    """One configuration, with what runs on it."""

    directory: Path

    @property
    def docs(self) -> Path:
        return self.directory / "docs"

    def environment(self, **extra: str) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("INGESTD_")}
        return {**plain, "INGESTD_STATE_DIR": str(self.directory / "state"), **extra}

    def start(self, **extra: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "ingestd", "--config", str(self.directory / "ingestd.toml"), "run"]
        with (self.directory / "run.log").open("ab") as log:
            return subprocess.Popen(command, env=self.environment(**extra), stderr=log, stdout=log, cwd=self.directory)

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "ingestd", "--config", str(self.directory / "ingestd.toml"), *arguments]
        return subprocess.run(
            command, env=self.environment(), capture_output=True, text=True, cwd=self.directory, timeout=90, check=False
        )

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        assert done.stdout, done.stderr
        value: dict[str, Any] = json.loads(done.stdout)
        return value

    def paths(self) -> set[str]:
        done = self.run("search", "anything", "--limit", "1000", "--json")
        return {hit["path"] for hit in json.loads(done.stdout)["hits"]} if done.returncode == 0 else set()

    def log(self) -> str:
        return (self.directory / "run.log").read_text()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "ingestd.toml").write_text(_CONFIGURATION)
    (tmp_path / "docs").mkdir()
    return Site(tmp_path)


@pytest.fixture
def daemon(site: Site) -> Iterator["subprocess.Popen[bytes]"]:
    process = site.start()
    eventually(lambda: "daemon.ready" in site.log(), site)
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def eventually(condition: Callable[[], bool], site: Site) -> None:
    """Wait until the condition holds, up to a generous deadline."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, site.log()
        _MOMENT.wait(0.2)


def children_of(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()} | {
        int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _parent(entry) == pid
    }


def _parent(process: Path) -> int:
    try:
        return int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_file_becomes_a_hit_and_follows_its_changes(site: Site, daemon: "subprocess.Popen[bytes]") -> None:
    (site.docs / "a.md").write_text("# Alpha\n\nFirst text.\n")
    (site.docs / "keep.md").write_text("# Keep\n\nKept text.\n")
    eventually(lambda: site.paths() == {"a.md", "keep.md"}, site)
    (site.docs / "new" / "deep").mkdir(parents=True)
    (site.docs / "a.md").rename(site.docs / "new" / "deep" / "b.md")
    eventually(lambda: site.paths() == {"new/deep/b.md", "keep.md"}, site)
    (site.docs / "new" / "deep" / "b.md").unlink()
    eventually(lambda: site.paths() == {"keep.md"}, site)
    (site.docs / "keep.md").write_text("# Keep\n\nAnother text.\n")
    eventually(
        lambda: (
            [hit["body"] for hit in site.json("search", "x")["hits"]] == ["# Keep\n\nAnother text."]
            or "Another text." in site.json("search", "x")["hits"][0]["body"]
        ),
        site,
    )
    assert site.json("verify")["ok"]
    status = site.json("status")
    assert status["daemon"]["pid"] == daemon.pid
    assert status["daemon"]["watch"]["docs"]["state"] == "watching"


def test_commands_act_through_the_daemon(site: Site, daemon: "subprocess.Popen[bytes]") -> None:
    (site.docs / "a.md").write_text("# Alpha\n\nFirst text.\n")
    (site.docs / "b.md").write_text("# Beta\n\nSecond text.\n")
    report = site.json("sync")
    assert report["failed"] == []
    eventually(lambda: site.paths() == {"a.md", "b.md"}, site)
    assert site.json("show", "docs/a.md")["title"] == "Alpha"
    assert site.json("forget", "docs/a.md")["forgotten"][0]["path"] == "a.md"
    assert site.paths() == {"b.md"}
    (site.docs / "bad.md").write_bytes(bytes(range(256)) * 20)
    eventually(lambda: len(site.json("status")["quarantine"]) == 1, site)
    assert site.run("status").returncode == 1
    assert site.json("retry", "--all")["retried"][0]["path"] == "bad.md"
    assert site.json("reindex", "--dry-run")["documents"] == []
    assert daemon.poll() is None


def test_a_second_daemon_is_told_to_try_later(site: Site, daemon: "subprocess.Popen[bytes]") -> None:
    second = site.run("run")
    assert second.returncode == 75
    assert str(daemon.pid) in second.stderr


def test_the_service_manager_hears_of_start_progress_and_stop(site: Site, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(_DEADLINE_SECONDS)
        process = site.start(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="2000000")
        try:
            heard: set[str] = set()
            while not {"READY=1", "WATCHDOG=1"} <= heard:
                heard |= set(listener.recv(4096).decode().split("\n"))
            process.send_signal(signal.SIGTERM)
            while "STOPPING=1" not in heard:
                heard |= set(listener.recv(4096).decode().split("\n"))
            assert process.wait(_DEADLINE_SECONDS) == 0
        finally:
            process.kill()
            process.wait()


def test_a_stop_in_the_middle_loses_nothing(site: Site, daemon: "subprocess.Popen[bytes]") -> None:
    for number in range(150):
        (site.docs / f"{number}.md").write_text(f"# {number}\n\nText of number {number}.\n")
    eventually(lambda: "document.committed" in site.log(), site)
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(_DEADLINE_SECONDS) == 0
    site.run("sync")
    assert len(site.paths()) == 150
    assert site.json("verify")["ok"]


def test_a_killed_daemon_leaves_no_child_and_no_lock(site: Site, daemon: "subprocess.Popen[bytes]") -> None:
    (site.docs / "a.md").write_text("# Alpha\n\nFirst text.\n")
    eventually(lambda: site.paths() == {"a.md"}, site)
    children = children_of(daemon.pid)
    assert len(children) >= 2
    daemon.kill()
    daemon.wait()
    eventually(lambda: not any(_alive(child) for child in children), site)
    (site.docs / "b.md").write_text("# Beta\n\nSecond text.\n")
    assert site.json("sync")["failed"] == []
    assert site.paths() == {"a.md", "b.md"}
    assert site.json("verify")["ok"]


def test_a_killed_child_is_replaced(site: Site, daemon: "subprocess.Popen[bytes]") -> None:
    (site.docs / "a.md").write_text("# Alpha\n\nFirst text.\n")
    eventually(lambda: site.paths() == {"a.md"}, site)
    for child in children_of(daemon.pid):
        os.kill(child, signal.SIGKILL)
    (site.docs / "b.md").write_text("# Beta\n\nSecond text.\n")
    eventually(lambda: site.paths() == {"a.md", "b.md"}, site)
    assert daemon.poll() is None
    assert site.json("verify")["ok"]


def test_a_root_that_vanishes_and_comes_back_under_the_daemon_loses_nothing(
    site: Site, daemon: "subprocess.Popen[bytes]"
) -> None:
    for number in range(3):
        (site.docs / f"{number}.md").write_text(f"# {number}\n\nText of number {number}.\n")
    eventually(lambda: len(site.paths()) == 3, site)
    site.docs.rename(site.directory / "aside")
    site.docs.mkdir()
    eventually(lambda: site.json("status")["roots"][0]["state"] == "vanished", site)
    assert len(site.paths()) == 3
    assert site.run("status").returncode == 1
    site.docs.rmdir()
    (site.directory / "aside").rename(site.docs)
    eventually(lambda: site.json("status")["roots"][0]["state"] == "online", site)
    (site.docs / "3.md").write_text("# 3\n\nText of number 3.\n")
    eventually(lambda: len(site.paths()) == 4, site)
    assert site.json("status")["held"] == 0
    assert daemon.poll() is None
