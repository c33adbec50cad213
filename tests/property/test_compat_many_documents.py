"""Many documents at once: what the published fancychunk gives, errors included."""

import asyncio
import random
from typing import Any

import numpy as np
import pytest

from ingestd.chunk.compat import structure_first
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder
from tests.unit.chunk.compat.structure_first.generated import document
from tests.unit.chunk.compat.structure_first.outcomes import CRASHES

fancychunk: Any = pytest.importorskip("fancychunk", reason="fancychunk 0.8.0 needs Python 3.12 or newer")
LISTS = 40


def outcome(package: Any, seed: int) -> Any:
    """What a package makes of a list of documents, or the name of its error."""
    rng = random.Random(seed)
    documents = [document(rng.randrange(10**6)) for _ in range(rng.randrange(5))]
    size, bound, n_ctx = rng.choice([60, 200, 2048]), rng.choice([None, 1, 2, 5]), rng.choice([60, 200, 1000])
    work = package.chunk_documents(
        documents, DrawnEmbedder(n_ctx=n_ctx), size, bound, segmenter=package.punctuation_segmenter
    )
    try:
        return asyncio.run(work)
    except Exception as error:  # noqa: BLE001  # any error is an outcome
        return type(error).__name__


def test_many_random_documents_are_chunked_and_embedded_alike() -> None:
    made = 0
    for seed in range(LISTS):
        ours, theirs = outcome(structure_first, seed), outcome(fancychunk, seed)
        if isinstance(theirs, str) and theirs in CRASHES:
            continue
        if isinstance(theirs, str) or isinstance(ours, str):
            assert ours == theirs, seed
            continue
        for (chunks, vectors), (seed_chunks, seed_vectors) in zip(ours, theirs, strict=True):
            assert [(one.text, one.start, one.end, one.heading_path) for one in chunks] == [
                (one.text, one.start, one.end, one.heading_path) for one in seed_chunks
            ]
            np.testing.assert_allclose(vectors, seed_vectors)
        made += 1
    assert made > LISTS // 2
