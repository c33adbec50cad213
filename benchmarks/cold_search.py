"""One-shot ``ingestd search`` from a cold start, with the packaged embedder over a small index.

``python benchmarks/cold_search.py [--files 20] [--runs 10] [--out benchmarks/results/cold_search.md]``

The target is 1.5 s of wall time on an idle machine; on a busy one compare the CPU seconds. Each run is a fresh process; the
files are in the page cache.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import measure
from corpus import write_corpus

QUERY = "what the report says on the second section"
TARGET_SECONDS = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingestd-search-") as folder:
        work = Path(folder)
        write_corpus(work / "root", given.files)
        program = [sys.executable, "-m", "ingestd", "--state-dir", str(work / "state")]
        # Without a configuration file of whoever runs this.
        alone = {"INGESTD_CONFIG": "", "XDG_CONFIG_HOME": str(work)}
        done = measure.run([*program, "sync", str(work / "root"), "--json"], environment=alone)
        report = json.loads(done.output)
        argv = [*program, "search", QUERY, "--json"]
        costs = [measure.run(argv, environment=alone) for _ in range(given.runs)]
        assert all(cost.exit_code == 0 and json.loads(cost.output)["hits"] for cost in costs)
    text = _table(costs, report["points_written"])
    print(text)
    if given.out:
        given.out.write_text(text)


def _table(costs: list[measure.Cost], points: int) -> str:
    wall = sorted(cost.wall_seconds for cost in costs)
    cpu = sorted(cost.cpu_seconds for cost in costs)
    return (
        f"# A search from a cold start\n\n{datetime.now(UTC):%Y-%m-%d} · {points} points, bge-small · {len(costs)} runs · "
        f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} shared cores · ten million additions "
        f"in a Python loop take {measure.yardstick():.2f} s here.\n\n"
        f"`make bench-cold_search` runs it; the target is {TARGET_SECONDS} s of wall time on an idle machine.\n\n"
        "| | best | median |\n| --- | --- | --- |\n"
        f"| wall s | {wall[0]:.2f} | {statistics.median(wall):.2f} |\n"
        f"| CPU s | {cpu[0]:.2f} | {statistics.median(cpu):.2f} |\n"
        f"| peak MiB | {costs[0].peak_mib:.0f} | |\n"
    )


if __name__ == "__main__":
    main()
