import asyncio

import numpy as np
import pytest

from ingestd.chunk.compat.structure_first import (
    Chunk,
    OversizedChunkletError,
    OversizedSentenceError,
    ValidationError,
    ZeroNormEmbeddingError,
    chunk_document,
    chunk_documents,
    embedders,
    enrich_with_headings,
    heading_paths,
    plan_units,
    punctuation_segmenter,
    render_heading_path,
    split_chunklets,
    split_chunks,
    split_chunks_structure_first,
)
from ingestd.chunk.compat.structure_first.openings import heading_flags
from ingestd.errors import IngestdError
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder


class Rows:
    """Gives the same rows whatever it is asked."""

    def __init__(self, rows: object) -> None:
        self.rows = rows

    async def embed_chunklets(self, _texts: list[str], /) -> np.ndarray:
        return np.asarray(self.rows)


def test_chunklets_begin_where_a_heading_does() -> None:
    sentences = ["One two three four. ", "Five six seven eight.\n\n", "# Nine\n\n", "Ten eleven twelve. "]
    assert split_chunklets(sentences)[1].startswith("# Nine")


def test_one_sentence_may_be_of_any_size() -> None:
    assert split_chunklets(["abc"], 2) == ["abc"]
    assert split_chunklets([]) == []


def test_what_is_too_large_is_named() -> None:
    with pytest.raises(OversizedSentenceError, match=r"sentence 1 has length 3 > max_size 2"):
        split_chunklets(["a", "bcd"], 2)
    with pytest.raises(OversizedChunkletError, match=r"chunklet 1 has length 3 > max_size 2"):
        asyncio.run(split_chunks(["a", "bcd"], DrawnEmbedder(), 2))
    with pytest.raises(ValidationError, match="max_size must be positive"):
        split_chunklets([], 0)
    with pytest.raises(IngestdError, match="max_size must be positive"):
        asyncio.run(split_chunks([], DrawnEmbedder(), 0))


def test_what_fits_is_one_chunk_and_nothing_is_embedded() -> None:
    embedder = DrawnEmbedder()
    assert asyncio.run(split_chunks(["ab", "c"], embedder, 3)) == [Chunk("abc", 0, 3, ())]
    assert embedder.asked == []


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([[1.0, 0.0]], ValidationError, r"shape \(1, 2\); expected \(2, d\)"),
        ([1.0, 0.0], ValidationError, "shape"),
        ([[1.0, 0.0], [0.0, 0.0]], ZeroNormEmbeddingError, "zero row 1"),
        ([[1.0, 0.0], [np.nan, 0.0]], ValidationError, "row 1 that is not finite"),
        ([[np.inf, 0.0], [1.0, 0.0]], ValidationError, "row 0 that is not finite"),
    ],
)
def test_embeddings_that_cannot_be_used_are_named(rows: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asyncio.run(split_chunks(["aaa", "bbb"], Rows(rows), 4))


@pytest.mark.parametrize(
    ("chunklet", "flags"),
    [
        ("# A\n", (True, True)),
        ("# A\n\ntext", (True, False)),
        ("# A\n\n```\ncode\n```\n", (True, True)),
        ("---\n\n# A\n", (True, True)),
        ("A\n=\n", (True, True)),
        ("text\n\n# A", (False, False)),
        ("> # A", (False, False)),
        ("#hash", (False, False)),
    ],
)
def test_blocks_without_blocks_are_not_seen_beside_a_heading(chunklet: str, flags: tuple[bool, bool]) -> None:
    assert heading_flags(chunklet) == flags


def test_a_section_that_fits_is_one_chunk_without_any_model() -> None:
    chunks = asyncio.run(split_chunks_structure_first("# A\nfoo\n\n# B\nbar", DrawnEmbedder(), min_size=0))
    assert [(chunk.text, chunk.heading_path) for chunk in chunks] == [("# A\nfoo\n\n", ()), ("# B\nbar", ("# A",))]


def test_three_colons_take_a_heading_one_level_deeper() -> None:
    text = "# a\n" + "x" * 20 + "\n# b ::: c\n" + "y" * 20
    assert [unit.fold_forward for unit in plan_units(text, 40, min_size=0)] == [True, False]


def test_paths_are_those_before_the_chunk() -> None:
    chunks = [Chunk("# A\n## B\ntext"), Chunk("## C #\n"), Chunk("# D")]
    assert heading_paths(chunks) == [(), ("# A", "## B"), ("# A", "## C #")]
    enriched = enrich_with_headings(chunks)
    assert [str(chunk) for chunk in enriched][1:] == ["# A\n## B\n## C #\n", "# A\n## C #\n# D"]
    assert render_heading_path(()) == ""


def test_documents_are_chunked_in_order_with_a_bound() -> None:
    documents = ["# A\nfoo", "", "x y. " * 40]
    made = asyncio.run(chunk_documents(documents, DrawnEmbedder(n_ctx=100), 60, 1, segmenter=punctuation_segmenter))
    alone = [
        asyncio.run(chunk_document(text, DrawnEmbedder(n_ctx=100), 60, segmenter=punctuation_segmenter))
        for text in documents
    ]
    for (chunks, vectors), (chunks_alone, vectors_alone) in zip(made, alone, strict=True):
        assert chunks == chunks_alone
        np.testing.assert_allclose(vectors, vectors_alone)
    assert made[1][1].shape == (0, 12)
    with pytest.raises(ValidationError, match="max_concurrency must be positive when set"):
        asyncio.run(chunk_documents([], DrawnEmbedder(), max_concurrency=0))


def test_the_embedder_without_a_model_gives_unit_vectors() -> None:
    chunks, vectors = asyncio.run(chunk_document("# A\nfoo", embedders.noop(16)))
    assert len(chunks) == 1
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0)
