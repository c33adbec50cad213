"""Expectations for where the published package is not installed.

``python -m tests.unit.chunk.compat.grain_growth.stored`` asks the package again and writes them anew.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.unit.chunk.compat.grain_growth.generated import Case, case, text

STORED = Path(__file__).parents[4] / "data" / "compat" / "grain_growth" / "expected.json"
PREDICATES = ["fences_balanced", "has_fence", "starts_inside_fence", "starts_cleanly", "ends_cleanly"]
FIRST_CASE, CASES, LARGEST = 1_000_000, 250, 1_500
FIRST_TEXT, TEXTS, LONGEST = 1_000_000, 150, 200


def digest(value: object) -> str:
    """Tells a generator that draws something else than it did."""
    return sha256(json.dumps(value).encode()).hexdigest()[:12]


def compact(chunks: list[dict[str, Any]]) -> list[list[Any]]:
    """A chunk's fields that do not follow from the others."""
    return [
        [
            chunk["text"][: len(chunk["text"]) - len(chunk["body"]) - 2],
            chunk["body"],
            *(chunk["metadata"][key] for key in ("title", "section", "page_start", "page_end", "block_types")),
        ]
        for chunk in chunks
    ]


def of_text(package: Any, sample: str) -> list[Any]:
    """What a package makes of a text."""
    return [
        package.split_sentences(sample),
        package.split_long_text(sample, 40),
        package.strip_fences(sample),
        "".join(str(int(getattr(package, name)(sample))) for name in PREDICATES),
    ]


def _small_cases() -> list[tuple[int, Case]]:
    drawn = ((seed, case(seed)) for seed in range(FIRST_CASE, FIRST_CASE + 20 * CASES))
    small = [(seed, one) for seed, one in drawn if len(json.dumps(one.blocks)) < LARGEST]
    return [(seed, one) for seed, one in small if all(block["page"] is not None for block in one.blocks)][:CASES]


def main() -> None:
    """Write the expectations."""
    import grain_growth

    lists = []
    for seed, one in _small_cases():
        chunks, skipped = grain_growth.chunk_document(one.blocks, one.filename, **one.sizes)
        lists.append([seed, digest(one), compact(chunks), [one.blocks.index(block) for block in skipped]])
    seeds = [seed for seed in range(FIRST_TEXT, FIRST_TEXT + 3 * TEXTS) if len(text(seed)) < LONGEST][:TEXTS]
    texts = [[seed, digest(text(seed)), *of_text(grain_growth, text(seed))] for seed in seeds]
    STORED.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        f' "package": "grain-growth-chunking {grain_growth.__version__}"',
        ' "lists": [\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in lists) + "]",
        ' "texts": [\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in texts) + "]",
    ]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    main()
