"""What the compat profile of structure-first promises for every input."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from ingestd.chunk.compat.structure_first import (
    plan_units,
    punctuation_segmenter,
    split_chunklets,
    split_chunks,
    split_chunks_structure_first,
    split_sentences,
)
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder
from tests.unit.chunk.compat.structure_first.generated import document

_texts = st.one_of(
    st.text(alphabet=st.sampled_from("#ab .!\n\r\t>-=*`~[]:<1漢。\u2028\u00a0\0"), max_size=300),
    st.integers(0, 1 << 32).map(document),
    st.text(max_size=80),
)


@given(_texts, st.integers(1, 40), st.integers(80, 400))
def test_sentences_tile_the_document_within_their_lengths(text: str, least: int, most: int) -> None:
    sentences = split_sentences(text, least, most, segmenter=punctuation_segmenter)
    if text.strip():
        assert "".join(sentences) == text
    if len(text) > least:
        assert all(least <= len(sentence) <= most for sentence in sentences)


@given(_texts, st.integers(1, 400))
def test_units_tile_the_document(text: str, max_size: int) -> None:
    units = plan_units(text, max_size)
    places = [unit.start for unit in units] + [len(text)]
    assert places[0] == 0
    assert [unit.end for unit in units] == places[1:]
    assert all(unit.needs_model or unit.size <= max_size for unit in units)


@given(_texts, st.integers(20, 400))
def test_chunklets_and_chunks_tile_the_document_within_their_size(text: str, max_size: int) -> None:
    sentences = split_sentences(text, max_len=max_size, segmenter=punctuation_segmenter)
    chunklets = split_chunklets(sentences, max_size)
    chunks = asyncio.run(split_chunks(chunklets, DrawnEmbedder(), max_size))
    assert "".join(chunklets) == "".join(sentences) == "".join(chunk.text for chunk in chunks)
    joined = "".join(sentences)
    assert all(joined[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(len(chunk.text) <= max_size for chunk in chunks)


@given(_texts, st.integers(20, 400), st.none() | st.integers(0, 200))
def test_structure_first_chunks_are_ranges_of_the_document(text: str, max_size: int, min_size: int | None) -> None:
    made = split_chunks_structure_first(
        text, DrawnEmbedder(), max_size, min_size=min_size, segmenter=punctuation_segmenter
    )
    chunks = asyncio.run(made)
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(len(chunk.text) <= max_size for chunk in chunks)
    lost = len(text) - sum(len(chunk.text) for chunk in chunks)
    assert lost == sum(
        unit.size
        for unit in plan_units(text, max_size, min_size=min_size)
        if unit.needs_model and not text[unit.start : unit.end].strip()
    )
