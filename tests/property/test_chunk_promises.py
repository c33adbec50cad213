"""Every promise of the native chunkers on Markdown of every kind and on lists of blocks."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestd.chunk import CHUNKERS, ChunkOptions, chunk
from ingestd.cli.blocks import document_from_blocks
from ingestd.model.document import BlockType, Document
from ingestd_adapters.markdown_converter import markdown_document
from ingestd_adapters.punctuation_segmenter import punctuation
from ingestd_adapters.sentencex_segmenter import sentencex
from tests.property.chunk_documents import closed, leaf, markdown_texts, prose, sections
from tests.property.chunk_promises import Limits, broken
from tests.unit.chunk.build import MAX_TOKENS, swelling, utf8, words

NAMES = sorted(CHUNKERS)
SEGMENTERS = [sentencex(), punctuation()]
FEW, MANY = 25, 3_000
BEGINNING = 12
"""Characters that tell a section from siblings of its heading."""

names = st.sampled_from(NAMES)
counters = st.sampled_from([words, utf8, swelling])
sizes = st.sampled_from([24, 40, 64, 160, 300])
segmenters = st.sampled_from(SEGMENTERS)
block_lists = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from([kind.value for kind in BlockType]),
            "text": prose | leaf.map("\n".join) | st.none(),
            "page": st.integers(0, 9),
        }
    ),
    max_size=12,
)


def findings(made: Document, name: str, count, size: int, segmenter, unit: str = "tokens") -> list[str]:
    additive = count is not swelling
    if unit == "tokens":
        options, limits = (
            ChunkOptions(name=name, max_size=size, unit=unit),
            Limits(count=count, tokens=size, additive=additive),
        )
    else:
        options = ChunkOptions(name=name, max_size=3 * size, unit=unit)
        limits = Limits(count=count, tokens=MAX_TOKENS, chars=3 * size, additive=additive)
    chunked = chunk(made, options, count, segmenter, max_tokens=MAX_TOKENS)
    return broken(made, chunked, limits, tiled=name == "structure-first")


def examples(count: int):
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


markdown_cases = given(text=markdown_texts, name=names, count=counters, size=sizes, segmenter=segmenters)
block_cases = given(blocks=block_lists, name=names, count=counters, size=sizes, segmenter=segmenters)


def keeps_its_promises(text, name, count, size, segmenter):
    made = markdown_document(text, name="file.md")
    for unit in ("tokens", "chars"):
        assert findings(made, name, count, size, segmenter, unit) == []


def keep_their_promises(blocks, name, count, size, segmenter):
    made = document_from_blocks(json.dumps(blocks), "standard input")
    assert findings(made, name, count, size, segmenter) == []


@examples(FEW)
@markdown_cases
def test_markdown_of_every_kind_keeps_every_promise(text, name, count, size, segmenter):
    keeps_its_promises(text, name, count, size, segmenter)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@examples(MANY)
@markdown_cases
def test_much_markdown_of_every_kind_keeps_every_promise(text, name, count, size, segmenter):
    keeps_its_promises(text, name, count, size, segmenter)


@examples(FEW)
@block_cases
def test_lists_of_blocks_keep_every_promise(blocks, name, count, size, segmenter):
    keep_their_promises(blocks, name, count, size, segmenter)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@examples(MANY)
@block_cases
def test_many_lists_of_blocks_keep_every_promise(blocks, name, count, size, segmenter):
    keep_their_promises(blocks, name, count, size, segmenter)


def located(parts: list[list[str]], name: str, size: int) -> tuple[list[tuple[set[int], str]], str]:
    """Of each chunk the parts that its span touches, with its text."""
    texts = ["\n".join(part) + "\n\n" for part in parts]
    text = "".join(texts)
    made = markdown_document(text, name="file.md")
    chunked = chunk(made, ChunkOptions(name=name, max_size=size), words, SEGMENTERS[0], max_tokens=MAX_TOKENS)
    ends, end = [], 0
    for each in texts:
        end += len(each)
        ends.append(end)
    found = []
    for one in chunked.chunks:
        touched = {
            number
            for number, stop in enumerate(ends)
            if text[max(one.char_start, stop - len(texts[number])) : min(one.char_end, stop)].strip()
        }
        found.append((touched, one.text))
    return found, text


def moved(before, after, at: int, edited: set[int], shift: int) -> list[str]:
    """Texts of chunks that share nothing with the edited parts' chunks, where they are not the same before and after."""
    old = [({number + shift * (number >= at) for number in parts}, text) for parts, text in before]
    near = {number for parts, _ in (*old, *after) if parts & edited for number in parts}
    apart = [[text for parts, text in found if not parts & near] for found in (old, after)]
    return [text for text in apart[0] if text not in apart[1]] + [text for text in apart[1] if text not in apart[0]]


local_cases = given(parts=sections, more=closed, name=names, size=sizes, where=st.integers(0, 9))


def with_neighbours(at: int) -> set[int]:
    return {at - 1, at, at + 1}


def appending_is_local(parts, more, name, size, where):
    at = where % len(parts)
    grown = [*parts[:at], [*parts[at], "", *more], *parts[at + 1 :]]
    before, after = located(parts, name, size)[0], located(grown, name, size)[0]
    own = "\n".join(parts[at][1:]).strip()
    # Of siblings with one heading, one that had hardly a text is another section with more.
    told = len(own) >= BEGINNING or (own and [part[0] for part in parts].count(parts[at][0]) == 1)
    assert moved(before, after, at, {at} if told else with_neighbours(at), 0) == []


def inserting_is_local(parts, more, name, size, where):
    at = where % (len(parts) + 1)
    level = parts[at][0].split(" ")[0] if at < len(parts) else "##"
    grown = [*parts[:at], [f"{level} Note", "", *more], *parts[at:]]
    before, after = located(parts, name, size)[0], located(grown, name, size)[0]
    assert moved(before, after, at, with_neighbours(at), 1) == []


@examples(FEW)
@local_cases
def test_appending_to_a_section_moves_no_boundary_elsewhere(parts, more, name, size, where):
    appending_is_local(parts, more, name, size, where)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@examples(MANY)
@local_cases
def test_appending_to_any_section_moves_no_boundary_elsewhere(parts, more, name, size, where):
    appending_is_local(parts, more, name, size, where)


@examples(FEW)
@local_cases
def test_inserting_a_section_moves_no_boundary_elsewhere(parts, more, name, size, where):
    inserting_is_local(parts, more, name, size, where)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@examples(MANY)
@local_cases
def test_inserting_any_section_moves_no_boundary_elsewhere(parts, more, name, size, where):
    inserting_is_local(parts, more, name, size, where)
