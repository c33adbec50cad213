"""Expectations for where the published package is not installed.

``python -m tests.unit.chunk.compat.structure_first.stored`` asks the package again and writes them anew.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.unit.chunk.compat.structure_first.outcomes import CRASHES, STAGES, outcomes

STORED = Path(__file__).parents[4] / "data" / "compat" / "structure_first" / "expected.json"
FIRST, DIGESTS, FULL = 1_000_000, 300, 50
LARGEST = 6_000
"""Characters of a case that is stored in full."""


def digest(value: object) -> str:
    """Short, the same on every Python."""
    return sha256(json.dumps(value).encode()).hexdigest()[:12]


def of(made: dict[str, Any]) -> list[str]:
    """A digest for each stage; of vectors, which are not exact, only what was asked of the embedder."""
    return [digest(made[stage][0] if stage == "vectors" else made[stage]) for stage in STAGES]


def crashed(made: dict[str, Any]) -> bool:
    """Whether the published package failed where this one does not."""
    return any(made[stage] in CRASHES for stage in STAGES if isinstance(made[stage], str))


def main() -> None:
    """Write the expectations."""
    import fancychunk
    from fancychunk.structure_first import plan_units

    digests: list[list[Any]] = []
    full: list[list[Any]] = []
    for seed in range(FIRST, FIRST + DIGESTS):
        made, _ = outcomes(fancychunk, plan_units, seed)
        if crashed(made):
            continue
        digests.append([seed, *of(made)])
        if len(full) < FULL and 200 < len(json.dumps(made)) < LARGEST:
            full.append([seed, made])
    STORED.parent.mkdir(parents=True, exist_ok=True)
    lines = [*(json.dumps(each, separators=(",", ":")) for each in digests)]
    cases = [*(json.dumps(each, separators=(",", ":"), ensure_ascii=True) for each in full)]
    STORED.write_text('{"digests":[\n' + ",\n".join(lines) + '\n],"full":[\n' + ",\n".join(cases) + "\n]}\n")


if __name__ == "__main__":
    main()
