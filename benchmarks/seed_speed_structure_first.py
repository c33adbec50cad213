"""The compat profile of structure-first beside fancychunk 0.8.0, which it reproduces.

``python benchmarks/seed_speed_structure_first.py [--seed-python .venvs/seeds312/bin/python] [--out FILE]``

Both run by the same Python, 3.12 or newer, in which ``fancychunk==0.8.0`` is installed; each run is a fresh process, in turn
with the other's. CPU seconds of the chunking alone, the best of the rounds; peak resident memory above that before, as a
multiple of the document. The segmenter is ``punctuation()``, the embedder a table. Documents that are one huge block are
given to ours alone: the published package takes hours for them.
"""

import argparse
import asyncio
import hashlib
import importlib
import json
import os
import platform
import random
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
MB = 1_000_000
COMPARED = ("sections", "flat")
HUGE = ("table", "fence", "paragraph", "line", "list", "html", "headings")
WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "while", "rivers", "carve", "deep", "valleys")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed-python", type=Path, default=ROOT / ".venvs/seeds312/bin/python")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1, 5], help="megabytes")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        package, kind, size = given.run
        print(json.dumps(_measured(package, kind, int(size))))
        return
    lines = [_heading(given.seed_python)]
    for line in _lines(given.seed_python, [int(size * MB) for size in given.sizes], given.rounds):
        print(line, flush=True)
        lines.append(line)
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")


def _lines(python: Path, sizes: list[int], rounds: int) -> Iterator[str]:
    yield "| document | MB | fancychunk s | ours s | ratio | ours MB/s | fancychunk memory | ours memory | chunks |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for kind in (*COMPARED, *HUGE):
        for size in sizes:
            packages = ("fancychunk", "ours") if kind in COMPARED else ("ours",)
            runs: dict[str, list[dict[str, Any]]] = {package: [] for package in packages}
            for _ in range(rounds):
                for package in packages:
                    runs[package].append(_child(python, package, kind, size))
            yield _row(
                kind, size, {package: min(each, key=lambda run: run["seconds"]) for package, each in runs.items()}
            )


def _row(kind: str, size: int, best: dict[str, dict[str, Any]]) -> str:
    ours, seed = best["ours"], best.get("fancychunk")
    speed = size / MB / ours["seconds"]
    if seed is None:
        cells = ["", f"{ours['seconds']:.2f}", "", f"{speed:.2f}", "", f"{ours['memory']:.1f} x", ours["chunks"]]
    else:
        ratio = seed["seconds"] / ours["seconds"]
        same = "the same" if seed["digest"] == ours["digest"] else "DIFFERENT"
        memory = [f"{seed['memory']:.1f} x", f"{ours['memory']:.1f} x"]
        cells = [f"{seed['seconds']:.2f}", f"{ours['seconds']:.2f}", f"{ratio:.1f} x", f"{speed:.2f}", *memory]
        cells.append(f"{ours['chunks']}, {same}")
    return "| " + " | ".join(map(str, [kind, size / MB, *cells])) + " |"


def _child(python: Path, package: str, kind: str, size: int) -> dict[str, Any]:
    argv = [python, __file__, "--run", package, kind, str(size)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(argv, check=True, capture_output=True, text=True, env=environment)
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


def _measured(package: str, kind: str, size: int) -> dict[str, Any]:
    name = "fancychunk" if package == "fancychunk" else "ingestd.chunk.compat.structure_first"
    module = importlib.import_module(name)
    text = MAKERS[kind](size)
    _chunked(module, MAKERS["flat"](20_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    chunks = _chunked(module, text)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    digest = hashlib.sha256(repr([(c.text, c.start, c.end, c.heading_path) for c in chunks]).encode()).hexdigest()
    memory = (peak - before) * 1024 / len(text.encode())
    return {"seconds": seconds, "memory": memory, "chunks": len(chunks), "digest": digest}


class _Table:
    """Rows of 64 numbers that follow from a text's length."""

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy
        self.rows = numpy.random.default_rng(1).standard_normal((4096, 64))

    async def embed_chunklets(self, texts: list[str], /) -> Any:
        return self.rows[self.numpy.array([len(text) for text in texts]) % 4096]


def _chunked(module: Any, text: str) -> list[Any]:
    embedder = _Table(importlib.import_module("numpy"))
    made = module.split_chunks_structure_first(text, embedder, segmenter=module.punctuation_segmenter)
    chunks: list[Any] = asyncio.run(made)
    return chunks


def _markdown(size: int, *, headings: bool) -> str:
    rng = random.Random(1)
    blocks: list[str] = []
    length = 0
    while length < size:
        blocks.append(_block(rng, headings=headings) + "\n\n")
        length += len(blocks[-1])
    return "".join(blocks)[:size]


def _block(rng: random.Random, *, headings: bool) -> str:
    kind = rng.random()
    if headings and kind < 0.12:
        return "#" * rng.choice([1, 2, 2, 3, 3, 4]) + " " + _sentence(rng)[:50].rstrip(" .!?")
    if kind < 0.65:
        return " ".join(_sentence(rng) for _ in range(rng.randint(2, 9)))
    if kind < 0.8:
        return "\n".join("- " + _sentence(rng) for _ in range(rng.randint(3, 9)))
    if kind < 0.9:
        rows = ["| " + " | ".join(rng.choice(WORDS) for _ in range(3)) + " |" for _ in range(rng.randint(3, 20))]
        return "\n".join(["| a | b | c |", "| --- | --- | --- |", *rows])
    return "```python\n" + "\n".join(f"    x = {rng.choice(WORDS)}(1)" for _ in range(rng.randint(3, 15))) + "\n```"


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 22))).capitalize() + rng.choice("...!?")


def _prose(size: int, joiner: str) -> str:
    rng = random.Random(2)
    some = joiner.join(_sentence(rng) for _ in range(3000)) + joiner
    return (some * (size // len(some) + 1))[:size]


def _repeated(first: str, row: str, last: str = "") -> Callable[[int], str]:
    return lambda size: first + row * (size // len(row)) + last


MAKERS: dict[str, Callable[[int], str]] = {
    "sections": lambda size: _markdown(size, headings=True),
    "flat": lambda size: _markdown(size, headings=False),
    "table": _repeated("| a | b | c |\n|---|---|---|\n", "| alpha | beta | gamma 12 |\n"),
    "fence": _repeated("# H\n\n```\n", "    x = foo(1)\n", "```\n"),
    "paragraph": lambda size: _prose(size, "\n"),
    "line": lambda size: _prose(size, " "),
    "list": lambda size: "- " + _prose(size, "\n- "),
    "html": _repeated("<div>\n", "<p>foo bar</p>\n", "</div>\n"),
    "headings": _repeated("", "## Heading\n\nText below.\n\n"),
}


def _heading(python: Path) -> str:
    version = subprocess.run([python, "-V"], check=True, capture_output=True, text=True).stdout.strip()
    date = time.strftime("%Y-%m-%d")
    return f"{date}, {version}, {platform.machine()}, {os.cpu_count()} cores; best of the rounds, one thread.\n"


if __name__ == "__main__":
    main()
