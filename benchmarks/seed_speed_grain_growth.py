"""The compat profile of grain-growth beside the published package, in one process and one run."""

import gc
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import grain_growth as package

from ingestd.chunk.compat import grain_growth as ours

Blocks = list[Any]
_WORDS = [
    *(
        "the",
        "grain",
        "of",
        "steel",
        "grows",
        "until",
        "it",
        "meets",
        "a",
        "boundary",
        "and",
        "then",
        "stops",
        "because",
    ),
    *(
        "annealing",
        "time",
        "was",
        "short",
        "in",
        "all",
        "cases",
        "e.g.",
        "Fig.",
        "3",
        "shows",
        "what",
        "Smith",
        "et al.",
    ),
    *("found", "for", "second", "sample", "that", "held", "at", "temperature"),
]
_MEGABYTE = 1_000_000
_ABOUT_SPEED = (
    "Best of interleaved runs, CPU s; the chunks are compared. *mixed* is as papers and reports are: of a hundred blocks "
    "6 sections, 3 tables, 3 captions, 5 formulas, 10 lists, 3 paragraphs over the limit and 1 footnote; the rest are "
    "paragraphs of 60 to 600 characters."
)
_ABOUT_GROWTH = (
    "One huge block: CPU s, the exponent with which they grow from a quarter of it to the whole (1 is linear), and the "
    "peak of resident memory above that of the process that holds the input, in times the input."
)


def section(blocks: int, runs: int) -> str:
    """The tables as Markdown."""
    lines = [
        "## grain-growth 1.0.0",
        "",
        _ABOUT_SPEED,
        "",
        "| blocks | MB | package | ingestd | ratio |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, build in CORPORA.items():
        corpus = build(Random(1), blocks if name == "mixed" else blocks // 5)
        theirs, own = _race(corpus, runs)
        size = sum(len(block["text"]) for block in corpus) / _MEGABYTE
        lines.append(f"| {len(corpus)} {name} | {size:.1f} | {theirs:.3f} | {own:.3f} | {theirs / own:.2f} |")
        del corpus
        gc.collect()
    lines += [
        "",
        _ABOUT_GROWTH,
        "",
        "| one | MB | CPU s | exponent | memory |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, build_one in HUGE.items():
        quarter, whole = (_seconds(build_one(5 * _MEGABYTE // part), runs) for part in (4, 1))
        lines.append(f"| {name} | 5 | {whole:.3f} | {math.log(whole / quarter, 4):.2f} | {_memory(name):.1f} |")
    lines.append(f"| {_MIXED_5} | 5 | | | {_memory(_MIXED_5):.1f} |")
    return "\n".join(lines)


def _prose(draw: Random, length: int) -> str:
    sentences: list[str] = []
    so_far = 0
    while so_far < length:
        sentences.append(" ".join(draw.choices(_WORDS, k=draw.randrange(5, 20))).capitalize() + ".")
        so_far += len(sentences[-1]) + 1
    return " ".join(sentences)


def _mixed(draw: Random, count: int) -> Blocks:
    made: list[tuple[str, str]] = []
    for number in range(count):
        kind = draw.random()
        if kind < 0.06:
            made.append(("section", f"{number} Section name"))
        elif kind < 0.09:
            made.append(("table", "\n".join(f"| a{row} | b | c |" for row in range(draw.choice([5, 20, 200])))))
        elif kind < 0.12:
            made.append(("caption", f"Table {number}. A caption."))
        elif kind < 0.17:
            made.append(("formula", f"x_{number} = \\alpha + y"))
        elif kind < 0.27:
            made.append(("list", "\n".join(_prose(draw, 60) for _ in range(5))))
        elif kind < 0.30:
            made.append(("paragraph", _prose(draw, 3000)))
        elif kind < 0.31:
            made.append(("footnote", "A note."))
        else:
            made.append(("paragraph", _prose(draw, draw.randrange(60, 600)) + draw.choice(["", " It holds that"])))
    return [{"type": kind, "text": text, "page": number // 20} for number, (kind, text) in enumerate(made)]


def _of(kind: str, text: Callable[[Random], str]) -> Callable[[Random, int], Blocks]:
    return lambda draw, count: [{"type": kind, "text": text(draw), "page": at // 20} for at in range(count)]


CORPORA: dict[str, Callable[[Random, int], Blocks]] = {
    "mixed": _mixed,
    "paragraphs of 300": _of("paragraph", lambda draw: _prose(draw, 250)),
    "paragraphs of 40": _of("paragraph", lambda draw: _prose(draw, 20)),
    "paragraphs of 3000": _of("paragraph", lambda draw: _prose(draw, 3000)),
    "lists of 5": _of("list", lambda draw: "\n".join(_prose(draw, 60) for _ in range(5))),
    "list items": _of("list", lambda draw: _prose(draw, 60)),
    "tables of 150 rows": _of("table", lambda _: "\n".join(f"| a{row} | b | c |" for row in range(150))),
}
HUGE: dict[str, Callable[[int], Blocks]] = {
    "paragraph": lambda size: [{"type": "paragraph", "text": _prose(Random(1), size), "page": 0}],
    "line without a stop": lambda size: [{"type": "paragraph", "text": "word " * (size // 5), "page": 0}],
    "line without a space": lambda size: [{"type": "paragraph", "text": "x" * size, "page": 0}],
    "list": lambda size: [{"type": "list", "text": "an item\n" * (size // 8), "page": 0}],
    "table": lambda size: [{"type": "table", "text": "| a | b | c |\n" * (size // 14), "page": 0}],
    "blank table": lambda size: [{"type": "table", "text": "\n" * size, "page": 0}],
    "formula of fences": lambda size: [{"type": "formula", "text": "~~~ abc\n" * (size // 8), "page": 0}],
    "run of short paragraphs": lambda size: [{"type": "paragraph", "text": "It is.", "page": 0}] * (size // 6),
    "run of bound formulas": lambda size: (
        [
            {"type": "paragraph", "text": "It holds that", "page": 0},
            {"type": "formula", "text": "a = b + c + d", "page": 0},
        ]
        * (size // 26)
    ),
}
_MIXED_5 = "mixed"


def _race(corpus: Blocks, runs: int) -> tuple[float, float]:
    theirs = own = math.inf
    for _ in range(runs):
        began = time.process_time()
        expected = package.chunk_document(corpus, "file")
        theirs = min(theirs, time.process_time() - began)
        began = time.process_time()
        found = ours.chunk_document(corpus, "file")
        own = min(own, time.process_time() - began)
        assert found == expected
        del expected, found
    return theirs, own


def _seconds(corpus: Blocks, runs: int) -> float:
    best = math.inf
    for _ in range(runs):
        began = time.process_time()
        ours.chunk_document(corpus, "file")
        best = min(best, time.process_time() - began)
    return best


def _memory(name: str) -> float:
    """In a process of its own: the peak is never given back."""
    here = Path(__file__)
    run = [sys.executable, str(here), name]
    return float(subprocess.run(run, check=True, capture_output=True, text=True, cwd=here.parent).stdout)


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmHWM")


def main() -> None:
    name = sys.argv[1]
    corpus = _mixed(Random(1), 11_500) if name == _MIXED_5 else HUGE[name](5 * _MEGABYTE)
    size = sum(len(block["text"]) for block in corpus)
    before = _peak_bytes()
    chunks = ours.chunk_document(corpus, "file")
    print((_peak_bytes() - before) / size)
    del chunks


if __name__ == "__main__":
    main()
