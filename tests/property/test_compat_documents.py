"""Random documents cut by the profile ``compat``: the packages' chunks, nothing lost unreported, all where they say."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest

from ingestd.chunk import Chunked, ChunkOptions
from ingestd.chunk.compat import grain_growth
from ingestd.chunk.compat.chunking import given_blocks_chunked, seed_chunked
from ingestd.chunk.compat.grain_document import Given
from ingestd.chunk.typed_blocks import TypedBlocks, typed_blocks
from ingestd.errors import NotChunkable
from ingestd.model.document import Document
from ingestd_adapters.punctuation_segmenter import punctuation
from tests.unit.chunk.build import words
from tests.unit.chunk.compat.grain_growth.generated import Case, case
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder
from tests.unit.chunk.compat.structure_first.generated import document as drawn_markdown

CASES = range(120)


def typed(one: Case) -> TypedBlocks:
    return typed_blocks(one.blocks, one.filename or "drawn")


def options_of(one: Case) -> ChunkOptions:
    target, most = one.sizes.get("target_chars", 1500), one.sizes.get("max_chars", 2000)
    return ChunkOptions(
        name="grain-growth", profile="compat", target_size=max(1, int(target)), max_size=max(1, int(most))
    )


def given(blocks: TypedBlocks, options: ChunkOptions) -> Chunked:
    made = Given(blocks=blocks.given, origins=blocks.origins, filename=blocks.filename)  # type: ignore[arg-type]
    return given_blocks_chunked(blocks.document, made, options, words)


def visible(text: str) -> str:
    return "".join(text.split()).replace("\0", ".")


def embed(texts: list[str]) -> np.ndarray:
    return asyncio.run(DrawnEmbedder().embed_chunklets(texts))


@pytest.mark.parametrize("seed", CASES)
def test_blocks_give_what_the_package_gives_for_them(seed: int) -> None:
    one = case(seed)
    options, blocks = options_of(one), typed(one)
    made = given(blocks, options)
    sizes = options.target_size or 0, options.max_size or 0
    expected, _ = grain_growth.chunk_document(one.blocks, one.filename or "drawn", *sizes)  # type: ignore[arg-type]  # plain dicts
    assert [(c.text, c.body) for c in made.chunks] == [(c["text"], c["body"]) for c in expected]
    assert [dict(row["metadata"]) for row in made.seeds] == [c["metadata"] for c in expected]


@pytest.mark.parametrize("seed", CASES)
def test_every_block_of_a_document_is_in_a_chunk_or_skipped(seed: int) -> None:
    one = case(seed)
    document = typed(one).document
    made = seed_chunked(document, options_of(one), words, punctuation(), None)
    texts = visible(" ".join(chunk.text for chunk in made.chunks))
    skipped = {one.block for one in made.skipped}
    for index, block in enumerate(document.blocks):
        # A split block may be in several chunks, a piece of it in each.
        pieces = {visible(word) for word in block.text.split()}
        said = all(piece in texts for piece in pieces)
        assert index in skipped or said, (index, block.type)
    for chunk in made.chunks:
        assert 0 <= chunk.char_start < chunk.char_end <= len(document.markdown)


def test_a_chunk_of_plain_text_lies_where_it_says() -> None:
    exact = wide = 0
    for seed in CASES:
        one = case(seed)
        document = typed(one).document
        made = seed_chunked(document, options_of(one), words, punctuation(), None)
        for chunk in made.chunks:
            if set(chunk.block_types) <= {"paragraph", "list"} and "~" not in chunk.body:
                span = visible(document.markdown[chunk.char_start : chunk.char_end])
                # What is skipped may lie between; a sentence may be said twice where a target is far below the maximum.
                lost = [line for line in chunk.body.splitlines() if visible(line) not in span]
                assert lost == [], (seed, chunk.index)
                exact += visible(chunk.body) == span
                wide += visible(chunk.body) != span
    assert exact > 6 * wide


@pytest.mark.parametrize("seed", range(60))
def test_structure_first_chunks_tile_the_markdown(seed: int) -> None:
    text = drawn_markdown(seed, 1200).replace("\r", "\n")
    document = Document(title="T", markdown=text, blocks=())
    try:
        made = seed_chunked(document, ChunkOptions(profile="compat", max_size=300), words, punctuation(), embed)
    except NotChunkable:
        return
    assert [text[c.char_start : c.char_end] for c in made.chunks] == [c.text for c in made.chunks]
    assert all(before.char_end <= after.char_start for before, after in pairwise(made.chunks))
    between = [text[before.char_end : after.char_start] for before, after in pairwise(made.chunks)]
    assert not "".join(between).strip()
