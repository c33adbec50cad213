"""ingestd beside LangChain's ``index()`` and CocoIndex over the same folder and the same changes.

``python benchmarks/peers.py [--files 1000] [--folder /dev/shm] [--only ingestd] [--out benchmarks/results/peers.md]``

Each phase is a fresh process; its cost is the CPU time of the whole process tree. The embedder draws vectors from a hash, so
that what is measured is the framework and its store. Qdrant's local mode syncs each point: use a folder in memory.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import measure
from corpus import CHANGES, victims, write_corpus
from peer_results import Row, table
from peer_tools import Places, Tool, tools, version_of

SHARE = 0.01
SIZE = 1000
SMALLER = 800
_ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What happens to the folder before a run."""

    name: str
    size: int = SIZE
    change: Callable[[Path], None] = lambda _root: None


def phases() -> Iterator[Phase]:
    """In the order in which they happen to one folder."""
    yield Phase(name="initial")
    yield Phase(name="no-op")
    for name, change in CHANGES.items():
        yield Phase(name=name, change=_over_victims(name, change))
    yield Phase(name="unmounted", change=_unmount)
    yield Phase(name="mounted again", change=_mount)
    yield Phase(name="smaller chunks", size=SMALLER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, default=_memory())
    parser.add_argument("--only", action="append", help="name of a tool; may be repeated")
    parser.add_argument("--repeat", type=int, default=3, help="runs of the no-op phase; the best counts")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    chosen = [tool for tool in tools() if not given.only or tool.name in given.only]
    rows: list[Row] = []
    for tool in chosen:
        with _scratch(given.folder) as work:
            places = Places(root=work / "root", work=work / tool.name)
            places.work.mkdir()
            write_corpus(places.root, given.files)
            for phase in phases():
                row = _measured(tool, places, phase, given.repeat if phase.name == "no-op" else 1)
                rows.append(row)
                print(json.dumps(row.as_json()), flush=True)
    text = _heading(given.files, chosen) + table(rows)
    print(text)
    if given.out:
        given.out.write_text(text)


def _measured(tool: Tool, places: Places, phase: Phase, repeat: int) -> Row:
    before = {text for _, text in tool.stored(places)} if phase.name != "initial" else set[str]()
    phase.change(places.root)
    costs: list[measure.Cost] = []
    for _ in range(repeat):
        (argv,) = tool.update(places, phase.size, phase.name)
        costs.append(measure.run(argv, environment=tool.environment))
    best = min(costs, key=lambda cost: cost.cpu_seconds)
    stored = tool.stored(places)
    stale, missing = _wrong(places.root, stored)
    return Row(
        tool=tool.name,
        phase=phase.name,
        cpu_seconds=best.cpu_seconds,
        wall_seconds=best.wall_seconds,
        embedded=tool.embedded(costs[0].output) if costs[0].output.strip() else None,
        unseen=len({text for _, text in stored} - before),
        stored=len(stored),
        stale=stale,
        missing=missing,
        exit_code=best.exit_code,
        peaks_mib=dict(best.peaks_mib),
        state_bytes=measure.folder_bytes(places.work) - tool.vectors_bytes(places),
        vectors_bytes=tool.vectors_bytes(places),
    )


def _wrong(root: Path, stored: list[tuple[str, str]]) -> tuple[int, int]:
    """Points whose text is not in the file that they name; files without a point."""
    # Unmounted, the files still are somewhere: what names them is right.
    elsewhere = root.with_name(_ELSEWHERE)
    root = elsewhere if elsewhere.exists() else root
    texts = {str(file.relative_to(root)): _plain(file.read_text()) for file in root.rglob("*.md")}
    stale = sum(_plain(text) not in texts.get(path, "") for path, text in stored)
    return stale, len(set(texts) - {path for path, _ in stored})


def _plain(text: str) -> str:
    return " ".join(text.split())


def _over_victims(name: str, change: Callable[[list[Path]], None]) -> Callable[[Path], None]:
    return lambda root: change(victims(root, SHARE, name))


def _unmount(root: Path) -> None:
    root.rename(root.with_name(_ELSEWHERE))
    root.mkdir()


def _mount(root: Path) -> None:
    root.rmdir()
    root.with_name(_ELSEWHERE).rename(root)


def _heading(files: int, chosen: list[Tool]) -> str:
    versions = ", ".join(f"{tool.name} {version_of(tool)}" for tool in chosen)
    return (
        f"# Beside its peers\n\n{datetime.now(UTC):%Y-%m-%d} · {files} Markdown files of 8 KB · {versions} · "
        f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} shared cores · "
        f"ten million additions in a Python loop take {measure.yardstick():.2f} s here.\n\n"
        "`make bench-peers` runs it. CPU seconds of the whole process tree, start-up included.\n\n"
    )


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    work = Path(tempfile.mkdtemp(prefix="ingestd-peers-", dir=folder))
    try:
        yield work
    finally:
        shutil.rmtree(work)


def _memory() -> Path:
    shared = Path("/dev/shm")
    return shared if shared.is_dir() else Path(tempfile.gettempdir())


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
