import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from ingestd.chunk.compat import structure_first
from tests.unit.chunk.compat.structure_first.outcomes import STAGES, outcomes
from tests.unit.chunk.compat.structure_first.stored import STORED, of

FEW = 60


@cache
def _expected() -> dict[str, Any]:
    expected: dict[str, Any] = json.loads(STORED.read_text())
    return expected


@cache
def _made(seed: int) -> dict[str, Any]:
    return outcomes(structure_first, structure_first.plan_units, seed)[0]


def test_every_stage_gives_what_the_published_package_gave_to_some_stored_documents() -> None:
    assert _different(_expected()["digests"][:FEW]) == []


@pytest.mark.slow
def test_every_stage_gives_what_the_published_package_gave_to_all_stored_documents() -> None:
    assert _different(_expected()["digests"]) == []
    assert len(_expected()["digests"]) > 290


def _different(stored: list[list[Any]]) -> list[tuple[int, str]]:
    return [
        (seed, stage)
        for seed, *digests in stored
        for stage, want, got in zip(STAGES, digests, of(_made(seed)), strict=True)
        if want != got
    ]


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_a_stage_gives_the_stored_outcome(stage: str) -> None:
    for seed, made in _expected()["full"]:
        assert _made(seed)[stage] == made[stage], seed


def test_late_chunking_gives_the_stored_vectors() -> None:
    compared = 0
    for seed, made in _expected()["full"]:
        asked, vectors = _made(seed)["vectors"]
        assert asked == made["vectors"][0], seed
        if isinstance(vectors, str):
            assert vectors == made["vectors"][1], seed
        else:
            np.testing.assert_allclose(vectors, made["vectors"][1], rtol=0, atol=1e-12)
            compared += 1
    assert compared > 10
