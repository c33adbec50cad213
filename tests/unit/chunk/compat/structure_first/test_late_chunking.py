import asyncio

import numpy as np
import pytest

from ingestd.chunk.compat.structure_first import (
    Chunk,
    ChunkExceedsContextError,
    ValidationError,
    embed_with_late_chunking,
)
from ingestd.chunk.compat.structure_first.pooling import apportioned
from ingestd.chunk.compat.structure_first.segments import Segment, plan_segments
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder


def test_segments_take_chunks_before_and_fill_up() -> None:
    assert plan_segments([10, 10, 10, 10], [0, 0, 0, 0], 25, 10, 25) == [
        Segment(0, 0, 2),
        Segment(1, 2, 3),
        Segment(2, 3, 4),
    ]


def test_a_heading_over_the_budget_is_left_out_of_the_sum_but_sent() -> None:
    embedder = DrawnEmbedder(n_ctx=50, chars_per_token=1)
    chunks = [Chunk("x" * 45, heading_path=("#" + "y" * 27,))]
    asyncio.run(embed_with_late_chunking(chunks, embedder))
    assert [len(text) for text in embedder.asked[0]] == [29, 45]


def test_counts_are_spread_by_largest_remainders_with_at_least_one() -> None:
    assert apportioned([5, 5, 5], 10) == [4, 3, 3]
    assert apportioned([1, 100], 10) == [1, 9]
    # What is given to the smallest is taken back one by one from all in turn.
    assert apportioned([100, 99, 1, 1, 1, 1], 12) == [4, 4, 1, 1, 1, 1]
    with pytest.raises(ValidationError, match="too few"):
        apportioned([1, 1, 1], 2)


def test_vectors_have_norm_one_unless_asked_otherwise() -> None:
    chunks = [Chunk("abcdefgh"), Chunk("ijklmnop")]
    unit = asyncio.run(embed_with_late_chunking(chunks, DrawnEmbedder()))
    raw = asyncio.run(embed_with_late_chunking(chunks, DrawnEmbedder(), normalize=False))
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0)
    np.testing.assert_allclose(raw / np.linalg.norm(raw, axis=1, keepdims=True), unit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preamble_fraction": 1.0}, "preamble_fraction"),
        ({"preamble_fraction": -0.1}, "preamble_fraction"),
        ({"max_tokens_per_segment": 0}, "max_tokens_per_segment"),
        ({"max_tokens_per_segment": 201}, "max_tokens_per_segment"),
    ],
)
def test_options_out_of_their_range_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        asyncio.run(embed_with_late_chunking([], DrawnEmbedder(), **options))  # type: ignore[arg-type]


def test_a_chunk_that_the_embedder_cannot_read_is_refused() -> None:
    with pytest.raises(ChunkExceedsContextError, match="chunk 1 has 75 tokens"):
        asyncio.run(embed_with_late_chunking([Chunk("a"), Chunk("b" * 300)], DrawnEmbedder(n_ctx=60)))
