"""The compat profiles beside the packages that they reproduce: CPU seconds in one run, growth, peak memory.

``python benchmarks/seed_speed.py [--blocks 100000] [--runs 5]`` writes Markdown. A package that is not installed is left out.
"""

import argparse
import platform
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec

from measure import yardstick

SECTIONS = {"grain_growth": "seed_speed_grain_growth"}
"""The module that measures, by the package that it needs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print("# The compat profiles beside the published packages\n")
    print(
        f"{datetime.now(UTC):%Y-%m-%d} · Python {platform.python_version()}, {platform.system()}, 2 shared cores · "
        f"ten million additions in a Python loop take {yardstick():.2f} s here.\n"
    )
    print("`make bench-seed_speed` runs it.\n")
    for package, module in SECTIONS.items():
        if find_spec(package):
            print(import_module(module).section(options.blocks, options.runs), flush=True)


if __name__ == "__main__":
    main()
