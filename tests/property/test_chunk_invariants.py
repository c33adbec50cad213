"""What holds of every document, for both chunkers, whatever the counter."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestd.chunk import CHUNKERS, Chunked
from ingestd.model.document import BlockType, Document
from tests.unit.chunk.build import chunked, document, sentences, swelling, utf8, words

NAMES = sorted(CHUNKERS)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
COUNTERS = [words, utf8, swelling]

_PARTS = [
    "a",
    "b. ",
    "c! ",
    "\n",
    "\r",
    "\n\n",
    " ",
    "|",
    "`",
    "~~~",
    "#",
    "- ",
    "\0",
    "\ud800",
    "\u0301",
    "\u4f60",
    FAMILY,
]
odd = st.lists(st.sampled_from(_PARTS) | st.characters(), max_size=60).map("".join)
prose = st.builds(sentences, st.integers(0, 30), st.sampled_from(["alpha", "\u4f60\u597d", FAMILY]))
long_words = st.builds(
    lambda word, times: word * times,
    st.sampled_from(["x", "xy ", "\u4f60", FAMILY, "e\u0301", " \t"]),
    st.integers(1, 400),
)
texts = st.one_of(odd, prose, long_words)
lines = st.lists(texts, min_size=1, max_size=6)
kinds = st.one_of(
    st.sampled_from(
        [kind.value for kind in BlockType if kind not in (BlockType.SECTION, BlockType.TABLE, BlockType.CODE)]
    ),
    st.sampled_from([f"h{level}" for level in range(1, 9)]),
)
pieces = st.one_of(
    st.tuples(kinds, texts, st.fixed_dictionaries({"page": st.none() | st.integers(1, 9)})),
    st.tuples(st.just("list"), lines.map(lambda items: "\n".join(f"- {item}" for item in items))),
    st.tuples(
        st.just("table"), lines.map(lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | 1 |" for row in rows))
    ),
    st.tuples(st.just("code"), lines.map("\n".join)),
)
documents = st.builds(
    lambda blocks, before, between: document(*blocks, before=before, between=between),
    st.lists(pieces, max_size=12),
    st.sampled_from(["", "\n\n", "\ufeff"]),
    st.sampled_from(["\n\n", "\r\n", "\n* * *\n"]),
)


def exercised(test):
    return settings(max_examples=40, deadline=None)(
        given(made=documents, name=st.sampled_from(NAMES), count=st.sampled_from(COUNTERS), size=st.integers(24, 200))(
            test
        )
    )


def visible(text: str) -> str:
    return re.sub(r"\s", "", text)


def covers(result: Chunked, start: int, end: int) -> bool:
    return any(c.char_start < end and start < c.char_end for c in result.chunks)


@exercised
def test_no_text_is_over_the_cap(made, name, count, size):
    for c in chunked(made, name=name, count=count, max_size=size).chunks:
        assert c.n_tokens == count([c.text])[0] <= size
        assert len(c.text) <= 16 * size


@exercised
def test_no_text_is_over_the_cap_in_characters(made, name, count, size):
    for c in chunked(made, name=name, count=count, unit="chars", max_size=64 + size, max_tokens=2 * size).chunks:
        assert len(c.text) <= 64 + size
        assert c.n_tokens == count([c.text])[0] <= 2 * size


@exercised
def test_every_block_is_in_a_chunk_or_skipped_with_a_reason(made, name, count, size):
    result = chunked(made, name=name, count=count, max_size=size)
    skipped = {each.block: each for each in result.skipped}
    assert all(each.reason and made.blocks[each.block].type.value == each.type for each in result.skipped)
    said = visible("".join(c.text for c in result.chunks))
    for index, block in enumerate(made.blocks):
        if index not in skipped:
            assert covers(result, block.start, block.end)
            assert visible(block.text)[:8] in said or len(visible(block.text)) > 8


@exercised
def test_structure_first_chunks_tile_the_document(made, name, count, size):
    result = chunked(made, name="structure-first", count=count, max_size=size)
    if result.chunks:
        assert "".join(made.markdown[c.char_start : c.char_end] for c in result.chunks) == made.markdown
        assert result.chunks[0].char_start == 0
        assert result.chunks[-1].char_end == len(made.markdown)


@exercised
def test_no_visible_character_of_a_kept_block_is_lost(made, name, count, size):
    result = chunked(made, name=name, count=count, max_size=size)
    skipped = {each.block for each in result.skipped}
    position, said = 0, [visible("\n".join(c.heading_path) + c.text) for c in result.chunks]
    for index, block in enumerate(made.blocks):
        if index in skipped or block.type in (BlockType.SECTION, BlockType.TITLE):
            continue
        for character in visible(made.markdown[block.start : block.end]):
            while position < len(said) and character not in said[position]:
                position += 1
            assert position < len(said), (block, character)


@exercised
def test_chunks_are_numbered_and_described(made, name, count, size):
    result = chunked(made, name=name, count=count, max_size=size)
    assert [c.index for c in result.chunks] == list(range(len(result.chunks)))
    for c in result.chunks:
        assert c.body.strip()
        assert c.text.endswith(c.body)
        assert c.n_chars == len(c.body)
        assert c.title == made.title
        assert c.block_types == tuple(sorted(set(c.block_types)))
        assert 0 <= c.char_start < c.char_end <= len(made.markdown)
        assert all(line.startswith("#") for line in c.heading_path)
        assert (c.heading_path[-1].lstrip("#").strip() if c.heading_path else "") == c.section
        assert (c.page_start is None) == (c.page_end is None)


@exercised
def test_the_same_document_gives_the_same_chunks(made, name, count, size):
    assert chunked(made, name=name, count=count, max_size=size) == chunked(made, name=name, count=count, max_size=size)


def manual(counts: list[int], grown: int, extra: int) -> Document:
    sections = []
    for number, count in enumerate(counts):
        more = extra if number == grown else 0
        sections += [(f"h{2 + number % 3}", f"Section {number}"), ("paragraph", sentences(count + more, f"s{number}"))]
    return document(("h1", "T"), ("paragraph", sentences(2, "intro")), *sections)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(
    counts=st.lists(st.integers(1, 14), min_size=2, max_size=24),
    extra=st.integers(1, 30),
    size=st.integers(60, 200),
    choice=st.data(),
)
def test_a_section_that_grows_moves_only_cuts_of_the_chunks_that_hold_it(name, counts, extra, size, choice):
    grown = choice.draw(st.integers(0, len(counts) - 1))
    before, after = (chunked(manual(counts, grown, more), name=name, max_size=size).chunks for more in (0, extra))
    held = {c.body for c in before if f"of s{grown}." in c.text}
    touched = {number for number in range(len(counts)) if any(f"of s{number}." in body for body in held)}
    apart = [number for number in range(len(counts)) if number not in touched]
    for number in apart:
        mark = f"of s{number}."
        assert [c.text for c in before if mark in c.text] == [c.text for c in after if mark in c.text]
