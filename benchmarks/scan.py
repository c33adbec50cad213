"""Scan of a large, unchanged root: CPU seconds a million files and peak memory, beside os.walk with lstat.

``python benchmarks/scan.py [--files 100000] [--per-directory 500] [--folder /dev/shm]``
"""

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from ingestd.discover.scan import ScanRoot, scan
from ingestd.model.source import Signature


class LedgerTable:
    """The known sources of one root in a table of their own, as the ledger keeps them."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS source(directory BLOB, name BLOB, size INTEGER, mtime_ns INTEGER,"
            " ctime_ns INTEGER, inode INTEGER, PRIMARY KEY(directory, name)) STRICT, WITHOUT ROWID"
        )

    def in_directory(self, directory: bytes) -> Mapping[bytes, Signature | None]:
        rows = self._connection.execute(
            "SELECT name, size, mtime_ns, ctime_ns, inode FROM source WHERE directory = ?", (directory,)
        )
        return {
            name: Signature(size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns, inode=inode)
            for name, size, mtime_ns, ctime_ns, inode in rows
        }

    def directories(self) -> Iterator[bytes]:
        for (directory,) in self._connection.execute("SELECT DISTINCT directory FROM source ORDER BY directory"):
            yield directory

    def count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM source").fetchone()[0])

    def add(self, directory: bytes, added: Mapping[bytes, Signature]) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO source VALUES(?, ?, ?, ?, ?, ?)",
            ((directory, name, s.size, s.mtime_ns, s.ctime_ns, s.inode) for name, s in added.items()),
        )
        self._connection.execute("COMMIT")


def build(folder: Path, files: int, per_directory: int) -> None:
    for start in range(0, files, per_directory):
        directory = folder / f"{start // per_directory // 50:04d}" / f"{start // per_directory:06d}"
        directory.mkdir(parents=True)
        for number in range(start, min(start + per_directory, files)):
            os.close(os.open(directory / f"document-{number:08d}.md", os.O_CREAT | os.O_WRONLY, 0o644))


def pass_over(folder: Path, ledger: Path) -> dict[str, int]:
    known = LedgerTable(ledger)
    counts = {"added": 0, "changed": 0, "removed": 0, "unchanged": 0}
    for found in scan(ScanRoot(path=os.fsencode(folder)), known):
        if found.difference.added:
            known.add(found.directory, found.difference.added)
        counts["added"] += len(found.difference.added)
        counts["changed"] += len(found.difference.changed)
        counts["removed"] += len(found.difference.removed)
        counts["unchanged"] += found.difference.unchanged
    return counts


def walk_over(folder: Path) -> dict[str, int]:
    seen = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            os.lstat(os.path.join(directory, name))  # noqa: PTH118  # what a plain walk does
            seen += 1
    return {"seen": seen}


def measure(step: str, folder: Path, ledger: Path) -> None:
    """One step in a process of its own, so that its peak of memory is its own."""
    began, wall = time.process_time(), time.monotonic()
    counts = walk_over(folder) if step == "walk" else pass_over(folder, ledger)
    cpu = time.process_time() - began
    files = max(sum(counts.values()), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {
        "step": step,
        **counts,
        "cpu_seconds": round(cpu, 2),
        "wall_seconds": round(time.monotonic() - wall, 2),
        "cpu_seconds_per_million": round(cpu * 1e6 / files, 2),
        "peak_mib": round(peak, 1),
    }
    print(json.dumps(result), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--per-directory", type=int, default=500)
    parser.add_argument(
        "--folder", type=Path, default=Path("/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir())
    )
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        measure(options.step, options.work / "root", options.work / "ledger.sqlite")
        return
    work = Path(tempfile.mkdtemp(prefix="ingestd-scan-", dir=options.folder))
    try:
        build(work / "root", options.files, options.per_directory)
        results = []
        for step in ("walk", "first", "unchanged", "walk"):
            arguments = [sys.executable, __file__, "--step", step, "--work", str(work)]
            output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
            print(output, end="", flush=True)
            results.append(json.loads(output))
        walk = (results[0]["cpu_seconds"] + results[3]["cpu_seconds"]) / 2
        print(json.dumps({"unchanged_over_walk": round(results[2]["cpu_seconds"] / walk, 2)}))
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
