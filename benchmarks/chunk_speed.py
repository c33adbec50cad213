"""The native chunkers on large Markdown: CPU seconds, growth, peak memory.

``python benchmarks/chunk_speed.py [--runs 3]`` writes Markdown. Each case runs in a process of its own: synthetic prose,
and one huge table, fence, paragraph, list, line or pile of headings, at 1 MB and at 5 MB, with the default sizes, a
counter that costs nothing and a segmenter by rules. Conversion and chunking are timed apart. Memory is what the process
held at most above what it held with the text read and everything imported.
"""

import argparse
import gc
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from corpus import documents
from measure import yardstick

MEGABYTE = 1_000_000
SIZES = (1, 5)
CHUNKERS = ("structure-first", "grain-growth")
SEGMENTERS = ("sentencex", "punctuation")
UNITS = {
    "table": "| some cell | 12.5 | another cell of the row |\n",
    "fence": "    total += gauge.level  # adds\n\n    call(total)\n",
    "paragraph": "Here is a sentence that speaks of the river. ",
    "lines": "Here is a sentence that speaks of the river\nand goes on. ",
    "list": "- an item of the list that says little\n  - one below it\n",
    "no stops": "words without any stop at all ",
    "one word": "abcdefghij",
    "headings": "## A heading of the manual\n\nOne line of text below it, and no more than that.\n\n",
}
AROUND = {"table": ("| a | b | c |\n|---|---|---|\n", ""), "fence": ("```py\n", "\n```\n")}
CASES = ("prose", *UNITS)


def text_of(case: str, size: int) -> str:
    """About so many characters of the case."""
    if case == "prose":
        parts: list[str] = []
        length = 0
        for part in documents():
            parts.append(part)
            length += len(part) + 1
            if length >= size:
                return "\n".join(parts)
    before, after = AROUND.get(case, ("", ""))
    return before + UNITS[case] * (size // len(UNITS[case])) + after


def count(texts: Sequence[str]) -> list[int]:
    """Two tokens for a text, one for each four characters begun."""
    return [2 + -(-len(text) // 4) for text in texts]


def measured(case: str, megabytes: int, chunker: str, segmenter_name: str, runs: int) -> dict[str, float]:
    """Least CPU seconds of the runs, and the peak of memory in the first."""
    from ingestd.chunk import ChunkOptions, chunk
    from ingestd_adapters.markdown_converter import markdown_document
    from ingestd_adapters.punctuation_segmenter import punctuation
    from ingestd_adapters.sentencex_segmenter import sentencex

    segmenter = {"sentencex": sentencex, "punctuation": punctuation}[segmenter_name]()
    text = text_of(case, megabytes * MEGABYTE)
    options = ChunkOptions(name=chunker)
    # All that is made once, at a size that does not show.
    chunk(markdown_document(text[:5000], name="a.md"), options, count, segmenter, max_tokens=512)
    held = _peak_bytes(reset=True)
    began = time.process_time()
    made = markdown_document(text, name="a.md")
    converted = time.process_time() - began
    began = time.process_time()
    chunks = chunk(made, options, count, segmenter, max_tokens=512).chunks
    chunked = time.process_time() - began
    peak = _peak_bytes() - held
    for _ in range(runs - 1):
        converted = min(converted, _seconds(lambda: markdown_document(text, name="a.md")))
        chunked = min(chunked, _seconds(lambda: chunk(made, options, count, segmenter, max_tokens=512)))
    return {"converted": converted, "chunked": chunked, "memory": peak / len(text.encode()), "chunks": len(chunks)}


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def _peak_bytes(*, reset: bool = False) -> int:
    """Peak resident memory; with ``reset``, what is held now, from where a new peak is looked for (Linux)."""
    gc.collect()
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(fields["VmRSS" if reset else "VmHWM"].split()[0]) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_own_process(*arguments: object) -> dict[str, float]:
    """What :func:`measured` gives in a new process."""
    argv = [sys.executable, __file__, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)


def report(runs: int) -> None:
    print("# The native chunkers on large Markdown\n")
    print(
        f"{datetime.now(UTC):%Y-%m-%d} · Python {platform.python_version()}, {platform.system()}, 2 shared cores · "
        f"ten million additions in a Python loop take {yardstick():.2f} s here.\n"
    )
    print("`make bench-chunk_speed` runs it. MB/s are megabytes a CPU second, the best of", runs, "runs; memory is in")
    print("multiples of the text, conversion and chunks included; growth is seconds at 5 MB over seconds at 1 MB.\n")
    print(
        "| case | chunker | segmenter | convert MB/s | chunk MB/s | at 5 MB | growth | peak memory at 5 MB | chunks |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for case in CASES:
        for chunker in CHUNKERS:
            for segmenter in SEGMENTERS if case in ("prose", "paragraph") else SEGMENTERS[:1]:
                small, large = (in_own_process(case, size, chunker, segmenter, runs) for size in SIZES)
                print(
                    f"| {case} | {chunker} | {segmenter} | {5 / large['converted']:.1f} | {1 / small['chunked']:.1f} "
                    f"| {5 / large['chunked']:.1f} | {large['chunked'] / small['chunked']:.1f} "
                    f"| {large['memory']:.1f} | {large['chunks']} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=5, metavar=("CASE", "MEGABYTES", "CHUNKER", "SEGMENTER", "RUNS"))
    options = parser.parse_args()
    if options.one:
        case, megabytes, chunker, segmenter, runs = options.one
        print(json.dumps(measured(case, int(megabytes), chunker, segmenter, int(runs))))
    else:
        report(options.runs)


if __name__ == "__main__":
    main()
