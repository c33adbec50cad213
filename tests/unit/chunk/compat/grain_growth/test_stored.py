"""What the published package gave, kept for where it is not installed."""

import json

import pytest

from ingestd.chunk.compat import grain_growth
from tests.unit.chunk.compat.grain_growth.generated import case, text
from tests.unit.chunk.compat.grain_growth.stored import CASES, STORED, TEXTS, compact, digest, of_text


@pytest.fixture(scope="module")
def stored():
    return json.loads(STORED.read_text(encoding="ascii"))


def test_the_generator_draws_what_it_drew_when_the_expectations_were_made(stored):
    assert [digest(case(seed)) for seed, *_ in stored["lists"]] == [drawn for _, drawn, *_ in stored["lists"]]
    assert [digest(text(seed)) for seed, *_ in stored["texts"]] == [drawn for _, drawn, *_ in stored["texts"]]


def test_chunks_are_those_that_the_package_gave(stored):
    assert len(stored["lists"]) == CASES
    for seed, _, expected, expected_skipped in stored["lists"]:
        one = case(seed)
        chunks, skipped = grain_growth.chunk_document(one.blocks, one.filename, **one.sizes)
        assert compact(chunks) == expected, seed
        assert [one.blocks.index(block) for block in skipped] == expected_skipped, seed


def test_functions_of_a_text_give_what_those_of_the_package_gave(stored):
    assert len(stored["texts"]) == TEXTS
    for seed, _, *expected in stored["texts"]:
        assert of_text(grain_growth, text(seed)) == expected, seed
