"""Random edits under a daemon that is killed at random: in the end the index says what the disk says."""

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.system.test_daemon import Site, children_of, eventually, site

__all__ = ["site"]
SECONDS = float(os.environ.get("INGESTD_SOAK_SECONDS", "1800"))
_WORDS = [
    "grain",
    "river",
    "bridge",
    "coffee",
    "metal",
    "paper",
    "winter",
    "signal",
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "violet",
    "ferry",
]
_MOMENT = threading.Event()


class Disk:
    """Changes a folder at random, from a seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.number = 0

    def step(self) -> None:
        files = sorted(path for path in self.folder.rglob("*.md") if path.is_file())
        actions = [self.write] * 4 + ([self.edit, self.rename, self.copy] * 2 if files else [])
        if len(files) > 30:
            actions += [self.remove] * 6
        self.random.choice(actions)(files)

    def write(self, _files: list[Path]) -> None:
        self.number += 1
        folder = self.folder / self.random.choice(("", "x", "x/y", "z"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.number}.md").write_text(self.text())

    def edit(self, files: list[Path]) -> None:
        self.random.choice(files).write_text(self.text())

    def rename(self, files: list[Path]) -> None:
        self.number += 1
        self.random.choice(files).rename(self.folder / f"{self.number}.md")

    def copy(self, files: list[Path]) -> None:
        self.number += 1
        shutil.copy(self.random.choice(files), self.folder / f"{self.number}.md")

    def remove(self, files: list[Path]) -> None:
        self.random.choice(files).unlink()

    def text(self) -> str:
        parts = [
            f"# {self.random.choice(_WORDS)}\n\n" + " ".join(self.random.choices(_WORDS, k=60)) + ".\n"
            for _ in range(self.random.randint(1, 6))
        ]
        return "\n".join(parts)


@pytest.mark.soak
def test_random_kills_and_edits_lose_and_double_nothing(site: Site) -> None:
    seed = int(os.environ.get("INGESTD_SOAK_SEED", str(time.time_ns() % 1_000_000)))
    print(f"seed {seed}")  # noqa: T201  to be able to repeat it
    disk, chance = Disk(site.docs, seed), random.Random(seed + 1)
    deadline = time.monotonic() + SECONDS
    kills = 0
    process: subprocess.Popen[bytes] | None = None
    while time.monotonic() < deadline:
        if process is None or process.poll() is not None:
            process = site.start()
        for _ in range(chance.randint(1, 15)):
            disk.step()
        _MOMENT.wait(chance.random() * 4)
        match chance.randrange(6):
            case 0 | 1:
                process.kill()
                process.wait()
                kills += 1
            case 2:
                for child in children_of(process.pid):
                    os.kill(child, signal.SIGKILL)
                kills += 1
            case _:
                pass
    if process is not None:
        process.kill()
        process.wait()
    print(f"{kills} kills")  # noqa: T201
    site.run("sync")
    site.run("retry", "--all")
    eventually(lambda: site.json("sync")["failed"] == [], site)
    expected = {str(path.relative_to(site.docs)) for path in site.docs.rglob("*.md")}
    assert site.paths() == expected
    verified = site.json("verify")
    assert verified["ok"], verified
