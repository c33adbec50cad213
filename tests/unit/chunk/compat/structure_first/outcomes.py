"""What a package makes of one random document, stage by stage."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder, drawn_segmenter, stepped_segmenter
from tests.unit.chunk.compat.structure_first.generated import document

STAGES = ["units", "sentences", "chunklets", "chunks", "structure", "paths", "enriched", "vectors"]
CRASHES = ("IndexError", "RecursionError")
"""Errors of the published package that are not reproduced."""


def outcomes(package: Any, plan_units: Callable[..., Any], seed: int) -> tuple[dict[str, Any], bool]:
    """By stage, errors as their names; and whether the embedder was asked for a document's sections."""
    rng = random.Random(seed)
    text = document(seed, rng.choice([100, 600, 1200, 1200, 4000]))
    max_size = rng.choice([2048, 500, 300, 200, 100, 60, 20, 8])
    min_size = rng.choice([None, None, None, 0, 10, 100, 5000, -1])
    segmenter = rng.choice([package.punctuation_segmenter] * 3 + [drawn_segmenter, stepped_segmenter])
    embedder = DrawnEmbedder(spread=rng.choice([5, 3]))
    sizes = {"max_size": max_size, "min_size": min_size}
    made: dict[str, Any] = {}
    made["units"] = _tried(
        lambda: [
            [unit.start, unit.end, unit.needs_model, unit.fold_forward]
            for unit in plan_units(text, max_size, min_size=min_size)
        ]
    )
    made["sentences"] = _sentences(package, text, segmenter, rng)
    sentences = made["sentences"] if rng.random() < 0.6 and isinstance(made["sentences"], list) else _pieces(text, rng)
    made["chunklets"] = _chunklets(package, sentences, rng)
    chunklets = made["chunklets"] if rng.random() < 0.7 and isinstance(made["chunklets"], list) else _pieces(text, rng)
    fake = DrawnEmbedder(spread=rng.choice([5, 3]))
    size = rng.choice([2048, 500, 200, 100])
    chunks = _tried(lambda: asyncio.run(package.split_chunks(chunklets, fake, size)))
    made["chunks"] = _plain(chunks)
    whole = _tried(
        lambda: asyncio.run(package.split_chunks_structure_first(text, embedder, **sizes, segmenter=segmenter))
    )
    made["structure"] = _plain(whole)
    some = whole if isinstance(whole, list) else []
    made["paths"] = [list(path) for path in package.heading_paths(some)]
    bare = [package.Chunk(chunk.text) for chunk in some] if rng.random() < 0.3 else some
    made["enriched"] = _plain(package.enrich_with_headings(bare))
    made["vectors"] = _vectors(package, bare[:60], rng)
    return made, bool(embedder.asked)


def _tried(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:  # noqa: BLE001  # any error is an outcome
        return type(error).__name__


def _plain(chunks: Any) -> Any:
    if isinstance(chunks, str):
        return chunks
    return [
        [chunk.text, chunk.start, chunk.end, None if chunk.heading_path is None else list(chunk.heading_path)]
        for chunk in chunks
    ]


def _pieces(text: str, rng: random.Random) -> list[str]:
    """The text cut anywhere."""
    if len(text) < 2:
        return [text]
    cuts = sorted(rng.sample(range(1, len(text)), k=rng.randint(0, min(60, len(text) - 1))))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _sentences(package: Any, text: str, segmenter: Any, rng: random.Random) -> Any:
    least = rng.choice([4, 4, 4, 1, 2, 10, 30, 0])
    most = rng.choice([None, None, 2048, 200, 60, 20, 8])
    known: Any = None
    if rng.random() < 0.2:
        values = [float("nan")] * 6 + [0.0, 1.0, 0.5, 2.0, -1.0, float("inf")]
        known = [rng.choice(values) for _ in text]
        if rng.random() < 0.3:
            vector = known
            known = lambda _document: vector  # noqa: E731
    return _tried(lambda: package.split_sentences(text, least, most, known, segmenter=segmenter))


def _chunklets(package: Any, sentences: list[str], rng: random.Random) -> Any:
    size = rng.choice([2048, 2048, 300, 100, 60, 10])
    boundary = (lambda strengths: float(sum(strengths)) * 1.5 + len(strengths) / 8) if rng.random() < 0.2 else None
    statement = (lambda count: abs(count - 2.25)) if rng.random() < 0.2 else None
    return _tried(lambda: package.split_chunklets(sentences, size, boundary, statement))


def _vectors(package: Any, chunks: Any, rng: random.Random) -> Any:
    embedder = DrawnEmbedder(
        n_ctx=rng.choice([20, 60, 200, 1000]),
        chars_per_token=rng.choice([1, 4, 9]),
        lost_rows=rng.choice([0, 0, 3, 40]),
    )
    budget = rng.choice([None, None, 20, 50, 100, embedder.n_ctx])
    options = [rng.choice([0.382, 0.382, 0.0, 0.9]), rng.random() < 0.7, rng.random() < 0.7]
    vectors = _tried(lambda: asyncio.run(package.embed_with_late_chunking(chunks, embedder, budget, *options)))
    return [embedder.asked, vectors if isinstance(vectors, str) else vectors.tolist()]
