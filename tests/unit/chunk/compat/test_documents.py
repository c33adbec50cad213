"""Documents cut by the profile ``compat``: the packages' chunks, with what ingestd knows of them besides."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from ingestd.chunk import SEED_DEFAULTS, Chunked, ChunkOptions, Sizes, chunk, chunk_stage, sizes_of, unit_of
from ingestd.chunk.compat import grain_growth, structure_first
from ingestd.chunk.compat.section_document import completed
from ingestd.chunk.compat.segmenting import probabilities
from ingestd.chunk.compat.structure_first import constants
from ingestd.errors import NotChunkable
from ingestd.model.document import Block, BlockType, Document
from ingestd_adapters.punctuation_segmenter import punctuation
from ingestd_adapters.sentencex_segmenter import sentencex
from tests.unit.chunk.build import document, sentences, words
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder


def embed(texts: list[str]) -> np.ndarray:
    return asyncio.run(DrawnEmbedder().embed_chunklets(texts))


def cut(made: Document, name: str, max_tokens: int = 10_000, **options: object) -> Chunked:
    wanted = ChunkOptions(name=name, profile="compat", **options)  # type: ignore[arg-type]  # any of its fields
    return chunk(made, wanted, words, punctuation(), max_tokens=max_tokens, embed=embed)


MANUAL = document(
    ("title", "Pumps", {"level": 1, "page": 1}),
    ("h2", "Valves"),
    ("paragraph", sentences(30), {"page": 2}),
    ("list", "- one\n- two\n- three", {"page": 3}),
    ("h2", "Empty"),
    ("h2", "Rows"),
    ("caption", "Table 1: what there is.", {"page": 4}),
    ("table", "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {n * n} |" for n in range(60)), {"page": 4}),
    ("footnote", "A footnote."),
    ("code", "if x:\n    return 1"),
    ("authors", "A. Author"),
    ("picture", "A picture of a pump"),
    ("furniture", "Page 4"),
    ("title", "Second title"),
    ("formula", "p = F / A with care"),
    ("formula", "x = 1"),
)


def test_grain_growth_gives_what_the_package_gives_for_the_documents_blocks() -> None:
    made = cut(MANUAL, "grain-growth", target_size=300, max_size=400)
    kinds = {"code": "paragraph"}
    blocks = [
        grain_growth.Block(type=kinds.get(b.type.value, b.type.value), text=b.text, page=(b.page or 1) - 1)
        for b in MANUAL.blocks
        if b.type not in {BlockType.PICTURE, BlockType.FURNITURE}
    ]
    expected, _ = grain_growth.chunk_document(blocks, "Manual", 300, 400)
    assert [c.text for c in made.chunks] == [c["text"] for c in expected]
    assert [c.body for c in made.chunks] == [c["body"] for c in expected]
    assert [dict(seed) for seed in made.seeds] == [{"metadata": c["metadata"]} for c in expected]


def test_grain_growth_says_where_its_chunks_lie() -> None:
    made = cut(MANUAL, "grain-growth", target_size=300, max_size=400)
    prose = [c for c in made.chunks if c.block_types == ("paragraph",)]
    assert len(prose) > 3
    for c in prose:
        assert MANUAL.markdown[c.char_start : c.char_end] == c.body
    assert prose[0].heading_path == ("# Pumps", "## Valves")
    assert [(c.page_start, c.page_end) for c in prose] == [(2, 2)] * len(prose)
    rows = [c for c in made.chunks if "table" in c.block_types]
    assert len(rows) > 1
    assert rows[0].block_types == ("caption", "table")
    assert MANUAL.markdown[rows[0].char_start :].startswith("Table 1: what there is.")
    assert all(before.char_end < after.char_start for before, after in pairwise(rows))
    assert MANUAL.markdown[rows[-1].char_start : rows[-1].char_end].endswith("| 59 | 3481 |")
    assert {c.section for c in rows} == {"Rows"}
    assert [(c.index, c.n_tokens) for c in made.chunks] == [(n, words([c.text])[0]) for n, c in enumerate(made.chunks)]


def test_grain_growth_reports_every_block_that_is_in_no_chunk() -> None:
    made = cut(MANUAL, "grain-growth", target_size=300, max_size=400)
    skipped = {MANUAL.blocks[one.block].text: one.reason.partition(":")[0] for one in made.skipped}
    assert skipped == {
        "Empty": "section",
        "A footnote.": "footnote",
        "A. Author": "authors",
        "A picture of a pump": "picture",
        "Page 4": "furniture",
        "Second title": "title",
        "x = 1": "formula",
    }


def test_a_document_of_headings_alone_has_no_chunk_and_says_why() -> None:
    made = cut(document(("title", "T"), ("h2", "A")), "grain-growth")
    assert (made.chunks, [one.type for one in made.skipped]) == ((), ["title", "section"])


def test_text_that_no_block_holds_is_a_paragraph_of_grain_growth() -> None:
    made = Document(
        title="T",
        markdown="Stray text.\n\nA block.",
        blocks=(Block(type=BlockType.PARAGRAPH, text="A block.", start=13, end=21),),
    )
    (only,) = cut(made, "grain-growth").chunks
    assert only.body == "Stray text.\n\nA block."
    assert (only.char_start, only.char_end) == (0, 21)


@pytest.mark.parametrize("min_size", [None, 0, 100])
def test_structure_first_gives_what_the_package_gives_for_the_markdown(min_size: int | None) -> None:
    made = cut(MANUAL, "structure-first", max_size=400, min_size=min_size)
    expected = asyncio.run(
        structure_first.split_chunks_structure_first(
            MANUAL.markdown,
            DrawnEmbedder(),
            400,
            min_size=min_size,
            segmenter=structure_first.punctuation_segmenter,
        )
    )
    assert [(c.text, c.body) for c in made.chunks] == [(c.text, c.text) for c in expected]
    assert [(c.char_start, c.char_end) for c in made.chunks] == [(c.start, c.end) for c in expected]
    assert [dict(seed) for seed in made.seeds] == [
        {"start": c.start, "end": c.end, "heading_path": list(c.heading_path or ())} for c in expected
    ]
    assert "".join(c.text for c in made.chunks) == MANUAL.markdown


def test_heading_paths_are_ancestors_and_the_own_heading_whatever_the_package_says() -> None:
    text = document(("h1", "T"), ("h2", "A"), ("paragraph", sentences(9)), ("h2", "B"), ("paragraph", sentences(9)))
    made = cut(text, "structure-first", max_size=500, min_size=0)
    last = made.chunks[-1]
    assert last.text.startswith("## B")
    assert last.heading_path == ("# T", "## B")
    assert made.seeds[-1]["heading_path"] == ["# T", "## A"]


def test_a_chunk_of_several_sections_has_the_path_that_they_share() -> None:
    text = document(("h1", "T"), ("h2", "A"), ("paragraph", "One."), ("h2", "B"), ("paragraph", "Two."))
    (only,) = cut(text, "structure-first").chunks
    assert (only.heading_path, only.section) == (("# T",), "T")
    (lone,) = cut(document(("h1", "T"), ("h2", "A"), ("h3", "B")), "structure-first").chunks
    assert lone.heading_path == ("# T", "## A", "### B")


def test_the_embedder_is_asked_for_what_is_too_large_alone() -> None:
    asked: list[list[str]] = []

    def counting(texts: list[str]) -> np.ndarray:
        asked.append(texts)
        return embed(texts)

    made = document(("h1", "A"), ("paragraph", "Small."), ("h1", "B"), ("paragraph", sentences(30)))
    wanted = ChunkOptions(profile="compat", max_size=400)
    chunk(made, wanted, words, punctuation(), max_tokens=512, embed=counting)
    (texts,) = asked
    assert "".join(texts) == made.markdown[made.markdown.index("# B") :]


@pytest.mark.parametrize("name", ["structure-first", "grain-growth"])
def test_a_chunk_over_what_the_embedder_takes_is_refused_with_the_way_out(name: str) -> None:
    made = document(("h1", "A"), ("paragraph", sentences(60)), title="Pumps")
    with pytest.raises(
        NotChunkable, match=r"of 'Pumps' are over the 64 tokens .* set chunker\.max_size to about"
    ) as told:
        cut(made, name, max_tokens=64, max_size=2000)
    size = int(str(told.value).partition("max_size to about ")[2].partition(",")[0])
    smaller = {"target_size": size} if name == "grain-growth" else {}
    assert cut(made, name, max_tokens=64, max_size=size, **smaller).chunks


@pytest.mark.parametrize("name", ["structure-first", "grain-growth"])
def test_sizes_that_are_not_given_are_lowered_to_what_the_embedder_takes(name: str) -> None:
    made = document(("h1", "A"), ("paragraph", sentences(60)), title="Pumps")
    lowered = cut(made, name, max_tokens=64)
    assert max(c.n_tokens for c in lowered.chunks) <= 64
    sizes = [2048 if name == "structure-first" else 2000]
    while sizes[-1] * 3 // 4 >= 64:
        sizes.append(sizes[-1] * 3 // 4)
    targets = [size * 1500 // 2000 if name == "grain-growth" else None for size in sizes]
    assert lowered in [cut(made, name, max_size=size, target_size=to) for size, to in zip(sizes, targets, strict=True)]


def test_what_the_packages_rules_cannot_cut_is_refused_with_the_way_out() -> None:
    with pytest.raises(NotChunkable, match=r"refuse 'Manual': .*max_size"):
        cut(document(("paragraph", sentences(3))), "structure-first", max_size=3)


def test_structure_first_needs_vectors() -> None:
    with pytest.raises(ValueError, match="embed is missing"):
        chunk(MANUAL, ChunkOptions(profile="compat"), words, punctuation(), max_tokens=512)


def test_a_coroutine_that_waits_is_told_apart() -> None:
    with pytest.raises(RuntimeError, match="await the function's asynchronous form"):
        completed(asyncio.sleep(0))


def test_the_packages_own_punctuation_stands_for_ours() -> None:
    assert probabilities(punctuation()) is structure_first.punctuation_segmenter


def test_a_segmenter_that_tells_probabilities_is_asked_for_them() -> None:
    class Telling:
        name = "sat-3l/1"

        def split(self, text: str) -> list[str]:
            raise AssertionError(text)

        def __call__(self, document: str) -> list[float]:
            return [0.5] * len(document)

    assert probabilities(Telling())("ab") == [0.5, 0.5]


def test_any_other_segmenter_ends_its_sentences_as_surely_as_a_full_stop() -> None:
    text = "Das ist z. B. so. Und das auch."
    given: Callable[[str], np.ndarray] = probabilities(sentencex())  # type: ignore[assignment]  # an array, here
    assert np.flatnonzero(given(text)).tolist() == [17, len(text) - 1]
    assert given(text).max() == constants.PUNCTUATION_PROBABILITY
    made = structure_first.split_sentences(text, segmenter=given)
    assert made == ["Das ist z. B. so. ", "Und das auch."]


def test_sizes_are_the_packages_parameters() -> None:
    assert sizes_of(ChunkOptions(profile="compat")) == SEED_DEFAULTS["structure-first"]
    assert sizes_of(ChunkOptions(profile="compat", name="grain-growth")) == SEED_DEFAULTS["grain-growth"]
    assert SEED_DEFAULTS["structure-first"].max_size == constants.DEFAULT_MAX_SIZE_CHARS
    assert SEED_DEFAULTS["structure-first"].min_size == int(constants.MIN_CHUNK_FRACTION * 2048)
    assert SEED_DEFAULTS["grain-growth"].max_size == grain_growth.DEFAULT_MAX_CHARS
    assert SEED_DEFAULTS["grain-growth"].target_size == grain_growth.DEFAULT_TARGET_CHARS
    assert sizes_of(ChunkOptions(profile="compat", max_size=100)) == Sizes(max_size=100, target_size=100, min_size=35)
    given = ChunkOptions(profile="compat", name="grain-growth", target_size=900, max_size=800)
    assert sizes_of(given) == Sizes(max_size=800, target_size=900, min_size=0)
    assert unit_of(given) == "chars"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "tokens"}, 'unit must be chars in the profile "compat".*set unit = "chars"'),
        ({"target_size": 9}, "target_size is unknown to structure-first.*got 9: leave it out, give max_size"),
        ({"name": "grain-growth", "min_size": 9}, "min_size is unknown to grain-growth.*give target_size"),
        ({"max_size": 0}, "max_size must be at least 1; got 0"),
        ({"min_size": -1}, "min_size must be at least 0; got -1"),
        ({"name": "grain-growth", "target_size": 0}, "target_size must be at least 1; got 0"),
    ],
)
def test_what_the_packages_do_not_know_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sizes_of(ChunkOptions(profile="compat", **options))  # type: ignore[arg-type]  # any of its fields


def test_the_stage_of_structure_first_holds_what_can_move_a_boundary() -> None:
    stage = chunk_stage(ChunkOptions(profile="compat", max_size=2048), "s/1", "abc", 512, embedder="e")
    assert stage.as_json() == {
        "name": "structure-first-compat",
        "version": 1,
        "options": {
            "profile": "compat",
            "seed": "fancychunk 0.8.0",
            "max_size": 2048,
            "min_size": 716,
            "segmenter": "s/1",
            "embedder": "e",
        },
    }
    others = {
        chunk_stage(ChunkOptions(profile="compat"), "s/1", "abc", 512, embedder="e").digest,
        chunk_stage(ChunkOptions(profile="compat"), "s/1", "abc", 256, embedder="e").digest,
        chunk_stage(ChunkOptions(profile="compat", max_size=2047), "s/1", "abc", 512, embedder="e").digest,
        chunk_stage(ChunkOptions(profile="compat", min_size=9), "s/1", "abc", 512, embedder="e").digest,
        chunk_stage(ChunkOptions(profile="compat"), "s/2", "abc", 512, embedder="e").digest,
        chunk_stage(ChunkOptions(profile="compat"), "s/1", "abc", 512, embedder="f").digest,
        chunk_stage(ChunkOptions(), "s/1", "abc", 512, embedder="e").digest,
    }
    assert len(others | {stage.digest}) == 8


def test_the_stage_of_grain_growth_holds_what_can_move_a_boundary() -> None:
    options = ChunkOptions(profile="compat", name="grain-growth", max_size=2000)
    stage = chunk_stage(options, "s/1", "abc", 512, embedder="e")
    assert stage.as_json() == {
        "name": "grain-growth-compat",
        "version": 1,
        "options": {
            "profile": "compat",
            "seed": "grain-growth-chunking 1.0.0",
            "max_size": 2000,
            "target_size": 1500,
        },
    }
    # It reads neither sentences of ours nor vectors, and counts characters.
    assert chunk_stage(options, "s/2", "abd", 256, embedder="f").digest == stage.digest
