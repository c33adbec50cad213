"""The compat profile of structure-first beside the published package, on documents of our own generator."""

import sys
from typing import Any

import numpy as np
import pytest

from ingestd.chunk.compat import structure_first
from tests.unit.chunk.compat.structure_first.outcomes import CRASHES, STAGES, outcomes

fancychunk: Any = pytest.importorskip("fancychunk", reason="fancychunk 0.8.0 needs Python 3.12 or newer")
FEW, MANY, STEP = 20, 4_190, 139


def test_every_stage_gives_what_the_published_package_gives_to_some_documents() -> None:
    differences, semantic = _compared(range(FEW))
    assert differences == []
    assert semantic > FEW // 2


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, MANY, STEP))
@pytest.mark.timeout(1800)
def test_every_stage_gives_what_the_published_package_gives(first: int) -> None:
    differences, semantic = _compared(range(first, first + STEP))
    assert differences == []
    assert semantic > STEP // 2


def _compared(seeds: range) -> tuple[list[tuple[int, str]], int]:
    planned = sys.modules["fancychunk.structure_first"].plan_units
    differences: list[tuple[int, str]] = []
    semantic = 0
    for seed in seeds:
        want, fallback = outcomes(fancychunk, planned, seed)
        got, _ = outcomes(structure_first, structure_first.plan_units, seed)
        semantic += fallback
        for stage in STAGES:
            if isinstance(want[stage], str) and want[stage] in CRASHES:
                break
            if not _same(want[stage], got[stage]):
                differences.append((seed, stage))
    return differences, semantic


def _same(want: Any, got: Any) -> bool:
    """Equal; vectors within floating-point tolerance."""
    if want == got:
        return True
    match want, got:
        case [asked, [*rows]], [asked_too, [*rows_too]] if asked == asked_too:
            return np.shape(rows) == np.shape(rows_too) and np.allclose(rows, rows_too, rtol=0, atol=1e-12)
        case _:
            return False
