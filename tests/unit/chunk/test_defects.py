"""The known defects of the published chunkers, each with the right value; numbers as in the catalogue of both."""

import pytest

from ingestd.chunk import Chunked, ChunkOptions, chunk
from ingestd.convert.decode import decode
from ingestd.model.chunk import Chunk
from ingestd_adapters.markdown_converter import markdown_document
from ingestd_adapters.sentencex_segmenter import sentencex
from tests.unit.chunk.build import sentences, words

BOTH = ("structure-first", "grain-growth")
CHINESE = "\u5929\u5730\u7384\u9ec4\u5b87\u5b99\u6d2a\u8352"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SEGMENTER = sentencex()


def cut(text: str, name: str = "structure-first", **options: object) -> Chunked:
    made = markdown_document(text, name="file.md")
    chosen = ChunkOptions(name=name, **{"unit": "chars", **options})  # type: ignore[arg-type]  # a test's own options
    return chunk(made, chosen, words, SEGMENTER, max_tokens=100_000)


def paths(made: Chunked) -> list[tuple[str, ...]]:
    return [one.heading_path for one in made.chunks]


def holding(made: Chunked, text: str) -> Chunk:
    (found,) = [one for one in made.chunks if text in one.body]
    return found


@pytest.mark.parametrize("name", BOTH)
def test_d1_a_chunk_that_begins_with_a_heading_has_that_headings_path(name: str):
    made = cut(f"# T\n\n{sentences(20)}\n\n## A\n\n{sentences(20)}\n\n## B\n\n{sentences(20)}", name, max_size=900)
    assert [path for path in paths(made) if path[-1].startswith("## ")] == [("# T", "## A"), ("# T", "## B")]


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    "block",
    [
        "```bash\n# comment one\nls\n```",
        "~~~\n# comment one\n~~~",
        "<pre>\n# comment one\n</pre>",
        "<!--\n# comment one\n-->",
        "    # comment one",
    ],
)
def test_d4_marks_in_code_and_html_are_no_headings(name: str, block: str):
    made = cut(f"# T\n\nBefore.\n\n{block}\n\nAfter.", name)
    assert paths(made) == [("# T",)]


@pytest.mark.parametrize("name", BOTH)
def test_d4_marks_in_front_matter_are_no_headings(name: str):
    made = cut("---\n# a comment\ntitle: x\n---\n\n# T\n\nText.", name)
    assert paths(made) == [("# T",)]


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("heading", ["A\n===", "   # A", "\ufeff# A", "# A #"])
def test_d5_every_form_of_heading_is_one(name: str, heading: str):
    file = f"{heading}\n\n{sentences(3)}\n\n## B\n\n{sentences(30)}".encode()
    made = cut(decode(file).text, name, max_size=600)
    assert made.chunks[-1].heading_path == ("# A", "## B")


@pytest.mark.parametrize("name", BOTH)
def test_d6_a_lone_carriage_return_ends_a_line(name: str):
    made = cut(f"a\r# H\r{sentences(40)}", name, max_size=300)
    assert set(paths(made)[1:]) == {("# H",)}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    "text", ["alpha bravo charlie delta echo foxtrot golf hotel " * 20, "alpha bravo, charlie\n" * 60]
)
def test_d7_text_without_sentences_is_cut_between_words(name: str, text: str):
    known = set(text.replace(",", " ").split())
    made = cut(text, name, max_size=100)
    assert len(made.chunks) > 5
    assert all(set(one.body.replace(",", " ").split()) <= known for one in made.chunks)


@pytest.mark.parametrize("name", BOTH)
def test_d7_a_family_of_emoji_is_not_cut(name: str):
    made = cut(FAMILY * 100, name, max_size=64)
    assert all(one.body.strip() == FAMILY * (len(one.body.strip()) // len(FAMILY)) for one in made.chunks)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    "text",
    [
        CHINESE * 900,
        "https://example.org/" + "a" * 9_000,
        "$$\n" + "x + " * 1_000 + "y\n$$",
        "| a | b |\n|---|---|\n| " + "v " * 2_500 + " | w |",
        "# " + "Heading " * 700 + "\n\nText.",
        sentences(400),
    ],
    ids=["chinese", "url", "formula", "row", "heading", "prose"],
)
def test_d8_d21_the_cap_holds_for_the_text_with_its_headings(name: str, text: str):
    made = cut(text, name, max_size=500)
    assert made.chunks
    assert all(len(one.text) <= 500 for one in made.chunks)


@pytest.mark.parametrize("name", BOTH)
def test_d9_headings_without_text_and_second_titles_are_kept(name: str):
    made = cut("# One\n\n## 3 Method\n\n### 3.1 Setup\n\nText.\n\n# Two\n\n## The end", name)
    everything = "\n".join(one.text for one in made.chunks)
    for heading in ("# One", "## 3 Method", "### 3.1 Setup", "# Two", "## The end"):
        assert heading in everything


@pytest.mark.parametrize("name", BOTH)
def test_d9_a_short_formula_is_kept(name: str):
    made = cut("# T\n\nThe energy is\n\n$$E=mc^2$$\n\nwhere m is the mass.", name)
    assert any("E=mc^2" in one.body for one in made.chunks)


@pytest.mark.parametrize("name", BOTH)
def test_d11_each_part_of_a_table_repeats_its_header_row_and_no_part_is_all_caption(name: str):
    rows = "".join(f"| {n} | value {n} |\n" for n in range(200))
    made = cut(f"| key | value |\n|---|---|\n{rows}", name, max_size=400)
    assert all(one.body.lstrip().startswith("| key | value |\n|---|---|\n") for one in made.chunks)
    assert sum(one.n_chars for one in made.chunks) < 2 * len(rows)


def test_d12_a_formula_that_fits_is_never_cut_from_its_marks():
    formula = "$$\n" + "x + " * 60 + "y\n$$"
    for name in BOTH:
        made = cut(f"{sentences(30)}\n\n{formula}\n\n{sentences(30)}", name, max_size=500)
        assert holding(made, "+ y\n$$").body.count("$$") == 2


@pytest.mark.parametrize("name", BOTH)
def test_d12_code_keeps_its_lines(name: str):
    code = "".join(f"def f{n}(x):\n    if x:\n        return {n}\n\n" for n in range(40))
    made = cut(f"```python\n{code}```\n", name, max_size=400)
    assert len(made.chunks) > 3
    for one in made.chunks:
        body = one.body.strip("\n")
        assert body.startswith("```python\n")
        assert body.endswith("\n```")
    lines = [line for one in made.chunks for line in one.body.splitlines() if line.startswith(("def", " "))]
    assert lines == [line for line in code.splitlines() if line]


@pytest.mark.parametrize(
    "text",
    [
        "It was J. Smith who came.",
        "See p. 5 of it.",
        "He is in the U.S. Army now.",
        "It is No. 5 of nine.",
        "A Ph.D. student wrote it.",
        "See Fig. 3 of Smith et al. for details.",
        "Dr. Jones said e.g. this.",
    ],
)
def test_d13_d15_an_abbreviation_ends_no_sentence(text: str):
    assert [one.strip() for one in SEGMENTER.split(f"First. {text} Last.")] == ["First.", text, "Last."]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("\u041e\u043d \u043f\u0440\u0438\u0448\u0451\u043b. \u041e\u043d\u0430 \u0443\u0448\u043b\u0430.", 2),
        ("\u00c9tait-ce vrai? \u00c9videmment.", 2),
        ("\u5929\u5730\u3002\u7384\u9ec4\uff01\u5b87\u5b99", 3),
        ("It took 5 sec. The next took six.", 2),
        ("\u0647\u0644 \u062c\u0627\u0621\u061f \u0646\u0639\u0645.", 2),
    ],
    ids=["cyrillic", "accents", "chinese", "seconds", "arabic"],
)
def test_d13_d15_sentences_end_in_every_script(text: str, count: int):
    assert len(SEGMENTER.split(text)) == count


@pytest.mark.parametrize("name", BOTH)
def test_d13_a_nul_stays_what_it_is(name: str):
    made = cut("One\0two. Three.", name)
    assert "One\0two. Three." in made.chunks[0].body


def test_d16_white_space_is_neither_lost_nor_a_chunk():
    text = "\n" * 100 + "# A\n\nText.\n"
    made = cut(text, max_size=64)
    assert "".join(text[one.char_start : one.char_end] for one in made.chunks) == text
    assert all(one.body.strip() for one in made.chunks)


@pytest.mark.parametrize("name", BOTH)
def test_d17_a_heading_before_code_is_a_heading_with_a_text(name: str):
    made = cut(f"# T\n\n{sentences(30)}\n\n## H\n\n```\ncode\n```\n\n{sentences(30)}", name, max_size=500)
    assert holding(made, "```\ncode\n```").heading_path == ("# T", "## H")


@pytest.mark.parametrize("name", BOTH)
def test_d19_any_nesting_and_any_size_is_chunked(name: str):
    assert cut(">" * 1_200 + " deep", name).chunks
    assert cut(":::\n" * 1_200 + "deep", name).chunks
    assert cut("- " * 1_200 + "deep", name).chunks
    assert cut(sentences(30), name, max_size=64, min_size=0).chunks


@pytest.mark.parametrize("name", BOTH)
def test_d22_items_at_the_end_move_no_boundary_before_them(name: str):
    text = "".join(f"# Part {n}\n\n{sentences(25, str(n))}\n\n" for n in range(12))
    before = [one.text for one in cut(text, name, max_size=700).chunks]
    after = [one.text for one in cut(text + "# More\n\n" + "- item\n" * 400, name, max_size=700).chunks]
    assert after[: len(before)] == before


def test_d24_a_tiny_section_is_not_glued_to_the_next_chapter():
    made = cut(
        f"# A\n\n## 1.1\n\n### 1.1.1 tiny\n\nSmall.\n\n# Chap 1\n\n{sentences(9)}\n\n# Chap 2\n\n## 2.1\n\nText."
    )
    assert all(len({line for line in one.text.splitlines() if line.startswith("# ")}) <= 1 for one in made.chunks)


@pytest.mark.parametrize("name", BOTH)
def test_d26_empty_blocks_make_no_chunk_with_an_empty_body(name: str):
    made = cut("# f\n\n&nbsp;\n\n| |\n|---|\n| |\n\n\n\n   \n", name)
    assert all(one.body.strip() for one in made.chunks)
