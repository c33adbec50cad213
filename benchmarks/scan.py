"""Scan of a large, unchanged root against the ledger: CPU seconds a million files, peak memory, beside os.walk with lstat.

``python benchmarks/scan.py [--files 100000] [--per-directory 500] [--folder /dev/shm]``

The start of the process is counted, imports and opening the ledger included. The targets are 15 CPU s and 150 MB for a
million unchanged files.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import yardstick

from ingestd.discover.scan import ScanRoot, scan
from ingestd.state import roots, sightings
from ingestd.state.engine import Ledger
from ingestd.state.known import KnownInLedger
from ingestd.state.schema import migrate


def build(folder: Path, files: int, per_directory: int) -> None:
    for start in range(0, files, per_directory):
        directory = folder / f"{start // per_directory // 50:04d}" / f"{start // per_directory:06d}"
        directory.mkdir(parents=True)
        for number in range(start, min(start + per_directory, files)):
            os.close(os.open(directory / f"document-{number:08d}.md", os.O_CREAT | os.O_WRONLY, 0o644))


def pass_over(folder: Path, file: Path) -> dict[str, int]:
    """Scan the folder against the ledger and state what is new, as a pass of ingestd does."""
    ledger = Ledger(file)
    migrate(ledger)
    with ledger.write("root") as transaction:
        root = roots.record(transaction, "bench", os.fsencode(folder), "documents", "configured")
    counts = {"added": 0, "changed": 0, "removed": 0, "unchanged": 0}
    with closing(KnownInLedger(ledger, root.id)) as known:
        for found in scan(ScanRoot(path=os.fsencode(folder)), known):
            if found.difference.added:
                with ledger.write("scan") as transaction:
                    sightings.seen(transaction, root.id, found.directory, found.difference.added, time.time_ns())
            counts["added"] += len(found.difference.added)
            counts["changed"] += len(found.difference.changed)
            counts["removed"] += len(found.difference.removed)
            counts["unchanged"] += found.difference.unchanged
    ledger.close()
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


def table(results: list[dict[str, Any]], files: int) -> str:
    walk = (results[0]["cpu_seconds"] + results[3]["cpu_seconds"]) / 2
    rows = "".join(
        f"| {name} | {found['cpu_seconds']:.2f} | x{found['cpu_seconds'] / walk:.1f} | {found['peak_mib']:.0f} |\n"
        for name, found in zip(("`os.walk` and `lstat`", "first scan", "nothing changed"), results, strict=False)
    )
    return (
        f"# A scan of a large root\n\n{datetime.now(UTC):%Y-%m-%d} · {files} files · Python "
        f"{platform.python_version()}, {platform.system()}, {os.cpu_count()} shared cores · ten million additions in a "
        f"Python loop take {yardstick():.2f} s here.\n\n`python benchmarks/scan.py --files {files}`; the targets for a "
        "million unchanged files are 15 CPU s and 150 MB, the start of the process included.\n\n"
        f"| | CPU s | beside the walk | peak MiB |\n| --- | --- | --- | --- |\n{rows}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--per-directory", type=int, default=500)
    parser.add_argument(
        "--folder", type=Path, default=Path("/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir())
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        measure(options.step, options.work / "root", options.work / "ledger.sqlite")
        return
    work = Path(tempfile.mkdtemp(prefix="ingestd-scan-", dir=options.folder))
    try:
        build(work / "root", options.files, options.per_directory)
        results: list[dict[str, Any]] = []
        for step in ("walk", "first", "unchanged", "walk"):
            arguments = [sys.executable, __file__, "--step", step, "--work", str(work)]
            output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
            print(output, end="", flush=True)
            results.append(json.loads(output))
        text = table(results, options.files)
        print(text)
        if options.out:
            options.out.write_text(text)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
