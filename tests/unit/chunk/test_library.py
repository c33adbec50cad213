"""What ``ingestd.chunk`` offers to a program."""

import ast
import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingestd.chunk
from ingestd.chunk import (
    SEED_DEFAULTS,
    Chunked,
    document_of_markdown,
    embed_with_late_chunking,
    embed_with_late_chunking_async,
    enrich_with_headings,
    grain_growth,
    heading_paths,
    punctuation_segmenter,
    split_chunklets,
    split_chunks,
    split_chunks_async,
    split_sentences,
    structure_first,
    structure_first_async,
    validate_blocks,
)
from ingestd.chunk.compat import grain_growth as grain_seed
from ingestd.chunk.compat import structure_first as section_seed
from ingestd.chunk.compat.structure_first import Chunk, embedders
from ingestd.chunk.homes import HOME
from ingestd.errors import NotChunkable
from ingestd_adapters.punctuation_segmenter import punctuation
from tests.unit.chunk.build import sentences, utf8, words
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder

PACKAGE = Path(ingestd.chunk.__file__)
MARKDOWN = f"# T\n\nIntro.\n\n## A\n\n{sentences(40)}\n\n## B\n\n```bash\n# comment\n```\n\n{sentences(8)}\n"
BLOCKS = [
    {"type": "title", "text": "T", "page": 0},
    {"type": "section", "text": "S", "page": 0},
    {"type": "paragraph", "text": sentences(40), "page": 1},
]


def vectors(texts: list[str]) -> np.ndarray:
    return asyncio.run(DrawnEmbedder().embed_chunklets(texts))


def test_importing_it_imports_no_engine_and_no_numpy() -> None:
    code = "import sys, ingestd.chunk, json; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert not {"numpy", "sentencex", "onnxruntime", "markdown_it", "opentelemetry", "asyncio"} & set(loaded)
    assert not [name for name in loaded if name.startswith("ingestd.chunk.compat")]


def test_every_public_name_is_there() -> None:
    assert set(ingestd.chunk.__all__) == set(HOME) <= set(dir(ingestd.chunk))
    for name in ingestd.chunk.__all__:
        assert getattr(ingestd.chunk, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        ingestd.chunk.absent  # noqa: B018  the access is the test


def test_type_checkers_are_told_the_same_homes() -> None:
    tree = ast.parse(PACKAGE.read_text("utf-8"))
    told = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == dict(HOME)


def test_every_public_name_of_the_packages_has_its_place() -> None:
    offered = {*ingestd.chunk.__all__, "grain_growth", "structure_first"}
    ours = {"VERSION", "ChunkMetadata", "Grain", "Unit", "as_chunk", "grow"}
    missing = {*grain_seed.__all__, *section_seed.__all__} - offered - ours
    # Both packages have a chunk_document, and errors, as a name here, would say nothing.
    assert {name for name in missing if not name.endswith(("_sync", "_async"))} == {"chunk_document", "errors"}
    assert {"sat_3l", "sat_9l", "sat_12l", "sat_default", "punctuation"} <= set(ingestd.chunk.segmenters.__all__)


def test_markdown_is_chunked_natively_by_default() -> None:
    made = structure_first(MARKDOWN, segmenter=punctuation())
    assert all(len(chunk.text) <= 760 for chunk in made.chunks)
    assert made.chunks[-1].heading_path == ("# T", "## B")
    assert structure_first(document_of_markdown(MARKDOWN), segmenter=punctuation()) == made
    counted = structure_first(MARKDOWN, max_size=60, count=words, max_tokens=50)
    assert max(chunk.n_tokens for chunk in counted.chunks) <= 50


@pytest.mark.parametrize("embed", [vectors, DrawnEmbedder()])
def test_markdown_is_chunked_as_fancychunk_does(embed: Any) -> None:
    made = structure_first(MARKDOWN, embed, 300, profile="compat", segmenter=punctuation_segmenter)
    expected = section_seed.split_chunks_structure_first(
        MARKDOWN, DrawnEmbedder(), 300, segmenter=punctuation_segmenter
    )
    _same(made, asyncio.run(expected))


def test_a_caller_in_an_event_loop_awaits_the_same() -> None:
    made = asyncio.run(
        structure_first_async(MARKDOWN, DrawnEmbedder(), 300, profile="compat", segmenter=punctuation_segmenter)
    )
    assert made == structure_first(MARKDOWN, vectors, 300, profile="compat", segmenter=punctuation_segmenter)
    assert asyncio.run(structure_first_async(MARKDOWN)) == structure_first(MARKDOWN)
    with pytest.raises(ValueError, match="embedder is missing"):
        asyncio.run(structure_first_async(MARKDOWN, profile="compat"))


def _same(made: Chunked, expected: list[Chunk]) -> None:
    assert [(c.text, c.char_start, c.char_end) for c in made.chunks] == [(c.text, c.start, c.end) for c in expected]


def test_blocks_are_chunked_natively_by_default() -> None:
    made = grain_growth(BLOCKS, "paper")
    assert all(len(chunk.text) <= 710 for chunk in made.chunks)
    assert made.chunks[0].heading_path == ("# T", "## S")
    with pytest.raises(ValueError, match="invalid blocks: block 0: type 'x' is none of"):
        grain_growth([{"type": "x", "text": "a"}])


def test_blocks_are_chunked_as_grain_growth_does() -> None:
    made = grain_growth(BLOCKS, "paper", target_size=300, max_size=400, profile="compat")
    expected, _ = grain_seed.chunk_document(BLOCKS, "paper", 300, 400)  # type: ignore[arg-type]  # plain dicts
    assert [{"text": c.text, "body": c.body, **s} for c, s in zip(made.chunks, made.seeds, strict=True)] == expected
    default = grain_growth(BLOCKS, "paper", profile="compat")
    assert max(len(chunk.body) for chunk in default.chunks) <= SEED_DEFAULTS["grain-growth"].max_size
    document = grain_growth(document_of_markdown(MARKDOWN), profile="compat")
    assert document.chunks[0].title == "T"


@pytest.mark.parametrize("cut", [grain_growth, structure_first])
def test_a_limit_in_tokens_holds_or_is_refused(cut: Any) -> None:
    given = BLOCKS if cut is grain_growth else MARKDOWN
    embed = {} if cut is grain_growth else {"embed": vectors}
    made = cut(given, count=utf8, max_tokens=200, max_size=150, unit="tokens")
    assert max(chunk.n_tokens for chunk in made.chunks) <= 150
    with pytest.raises(NotChunkable, match="over the 200 tokens"):
        cut(given, count=utf8, max_tokens=200, max_size=2000, profile="compat", **embed)


def test_sentences_keep_their_lengths_whatever_the_text() -> None:
    text = "See Fig. 3. " + "x" * 50 + "\n" + "alpha bravo charlie delta echo " * 4 + "👨‍👩‍👧‍👦" * 9
    made = split_sentences(text, max_len=20)
    assert "".join(made) == text
    assert max(map(len, made)) <= 20
    assert not any(part.startswith("\u200d") for part in made)
    assert split_sentences("a. b. c. Long sentence.", 4, segmenter=punctuation()) == ["a. b. ", "c. Long sentence."]
    assert split_sentences("One. Two.", 0, segmenter=punctuation()) == ["One. ", "Two."]
    assert "".join(split_sentences("a\r# H\rb")) == "a\r# H\rb"
    assert split_sentences("") == []


def test_sentences_are_those_of_fancychunk() -> None:
    made = split_sentences(MARKDOWN, 4, 100, segmenter=punctuation_segmenter, profile="compat")
    assert made == section_seed.split_sentences(MARKDOWN, 4, 100, segmenter=punctuation_segmenter)
    assert split_sentences(MARKDOWN, 4, 100, segmenter=punctuation(), profile="compat") == made
    known = [0.0] * len(MARKDOWN)
    assert split_sentences(MARKDOWN, 4, None, known, segmenter=punctuation(), profile="compat") == [MARKDOWN]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_len": -1}, "min_len must be at least 0"),
        ({"max_len": 0}, "max_len at least 1"),
        ({"known_boundary_probas": [0.0]}, 'read in the profile "compat" alone'),
        ({"segmenter": punctuation_segmenter}, "pass one with split"),
    ],
)
def test_what_a_native_stage_does_not_take_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_sentences("Some text.", **options)


def test_chunklets_and_chunks_cut_what_is_too_large_and_join_to_the_text() -> None:
    parts = ["x" * 95, " short.", " Another one."]
    chunklets = split_chunklets(parts, 40)
    assert "".join(chunklets) == "".join(parts)
    assert max(map(len, chunklets)) <= 40
    chunks = split_chunks(parts, vectors, 40)
    assert "".join(chunk.text for chunk in chunks) == "".join(parts)
    assert max(len(chunk.text) for chunk in chunks) <= 40
    with pytest.raises(section_seed.OversizedSentenceError):
        split_chunklets(parts, 40, profile="compat")
    with pytest.raises(section_seed.OversizedChunkletError):
        split_chunks(parts, vectors, 40, profile="compat")


def test_chunks_are_those_of_fancychunk() -> None:
    pieces = section_seed.split_chunklets(split_sentences(MARKDOWN, segmenter=punctuation()), 200)
    expected = asyncio.run(section_seed.split_chunks(pieces, DrawnEmbedder(), 300))
    assert split_chunks(pieces, DrawnEmbedder(), 300, profile="compat") == expected
    assert asyncio.run(split_chunks_async(pieces, DrawnEmbedder(), 300, profile="compat")) == expected
    native = split_chunks(pieces, vectors, 300)
    assert [(c.text, c.start) for c in native] == [(c.text, c.start) for c in expected]
    assert native[-1].heading_path == ("# T", "## B")


def test_a_path_is_ancestors_and_the_own_heading_of_real_headings() -> None:
    texts = ["---\na: b\n---\n# T\n\n", "intro\n## A\n\n", "```\n# no\n```\n", "Set\n===\n## B\n", "tail"]
    chunks = [Chunk(text) for text in texts]
    assert heading_paths(chunks) == [(), ("# T",), ("# T", "## A"), ("# Set", "## B"), ("# Set", "## B")]
    assert heading_paths(chunks, profile="compat") == section_seed.heading_paths(chunks)
    assert heading_paths([Chunk("# T\n\ntext\n")]) == [("# T",)]


def test_headings_are_put_before_a_text_that_lacks_them() -> None:
    chunks = [Chunk("# T\n\nintro\n"), Chunk("more\n## A\n"), Chunk("## B\n\ntext")]
    texts = [chunk.text for chunk in enrich_with_headings(chunks)]
    assert texts == ["# T\n\nintro\n", "# T\n\nmore\n## A\n", "# T\n\n## B\n\ntext"]
    assert enrich_with_headings(chunks, profile="compat") == section_seed.enrich_with_headings(chunks)


def test_late_chunking_gives_a_vector_for_each_chunk() -> None:
    chunks = [Chunk("# T\n\nintro\n"), Chunk("## A\n\ntext\n"), Chunk("## B\n\ntext\n")]
    asked = DrawnEmbedder()
    made = embed_with_late_chunking(chunks, asked, profile="compat")
    expected = asyncio.run(section_seed.embed_with_late_chunking(chunks, DrawnEmbedder()))
    assert made.tolist() == expected.tolist()
    native = embed_with_late_chunking(chunks, embedders.noop())
    assert native.shape == (3, 1024)
    assert asyncio.run(embed_with_late_chunking_async(chunks, embedders.noop())).shape == (3, 1024)


def test_blocks_are_checked_by_the_types_of_the_profile() -> None:
    code = [{"type": "code", "text": "x", "page": 0}]
    assert validate_blocks(code) == []
    assert validate_blocks(code, strict=False, profile="compat") == grain_seed.validate_blocks(code, strict=False)
    with pytest.raises(ValueError, match="block 0: page must be a whole number"):
        validate_blocks([{"type": "list", "page": -1}])
    assert validate_blocks("text", strict=False) == ["blocks must be a list, got str"]
