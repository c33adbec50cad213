import textwrap

import pytest

from ingestd.model.document import BlockType
from tests.unit.chunk.build import chunked, document, sentences, swelling, words


def structure(made, **options):
    return chunked(made, name="structure-first", **options)


def tiles(made, result) -> None:
    assert "".join(made.markdown[c.char_start : c.char_end] for c in result.chunks) == made.markdown


def test_a_section_tree_that_fits_is_one_chunk():
    made = document(
        ("h1", "T"), ("paragraph", "One."), ("h2", "A"), ("paragraph", "Two."), ("h2", "B"), ("paragraph", "3.")
    )
    (only,) = structure(made).chunks
    assert only.heading_path == ("# T",)
    assert only.section == "T"
    assert only.text == "# T\n\n" + only.body
    assert only.body == "One.\n\n## A\n\nTwo.\n\n## B\n\n3."
    assert (only.char_start, only.char_end) == (0, len(made.markdown))
    assert only.n_chars == len(only.body)
    assert only.block_types == ("paragraph", "section")


def test_the_heading_path_holds_the_ancestors_and_the_own_heading():
    made = document(
        ("h1", "T"),
        ("paragraph", sentences(9)),
        ("h2", "A"),
        ("paragraph", sentences(9)),
        ("h3", "A1"),
        ("paragraph", sentences(9)),
        ("h2", "B"),
        ("paragraph", sentences(9)),
    )
    result = structure(made, max_size=100)
    assert [c.heading_path for c in result.chunks] == [
        ("# T",),
        ("# T", "## A"),
        ("# T", "## A", "### A1"),
        ("# T", "## B"),
    ]
    assert [c.section for c in result.chunks] == ["T", "A", "A1", "B"]
    assert all(c.text == "\n".join(c.heading_path) + "\n\n" + c.body for c in result.chunks)
    assert [made.markdown[c.char_start :].split("\n")[0] for c in result.chunks] == ["# T", "## A", "### A1", "## B"]
    tiles(made, result)


def test_a_title_block_is_the_first_level():
    made = document(("title", "Paper"), ("h2", "Method"), ("paragraph", sentences(3)))
    assert structure(made).chunks[-1].heading_path == ("# Paper", "## Method")


def test_marks_in_code_are_no_headings():
    made = document(("h1", "T"), ("code", "# not a heading\nx = 1"), ("paragraph", sentences(3)))
    (only,) = structure(made).chunks
    assert only.heading_path == ("# T",)


def test_a_heading_without_a_text_of_its_own_goes_with_the_section_below_it():
    made = document(("h1", "T"), ("h2", "A"), ("paragraph", sentences(9)), ("h2", "B"), ("paragraph", sentences(9)))
    result = structure(made, max_size=110)
    assert [c.heading_path for c in result.chunks] == [("# T", "## A"), ("# T", "## B")]
    assert result.chunks[0].char_start == 0
    assert result.chunks[0].body.startswith("Here is")


def test_a_heading_with_nothing_below_it_is_kept():
    made = document(("h1", "T"), ("paragraph", sentences(9)), ("h1", "Annex"))
    last = structure(made, max_size=110).chunks[-1]
    assert last.heading_path == ("# Annex",)
    assert last.body == "# Annex"


def test_small_sections_of_one_parent_are_merged_and_have_its_path():
    small = [piece for name in "ABCDEFGH" for piece in (("h2", name), ("paragraph", f"Short text {name}."))]
    made = document(("h1", "T"), ("paragraph", sentences(12)), *small)
    result = structure(made, max_size=130, min_size=40)
    assert 2 < len(result.chunks) < 9
    merged = [c for c in result.chunks if c.body.count("## ") > 1]
    assert merged
    assert all(c.heading_path == ("# T",) for c in merged)
    tiles(made, result)


def test_chapters_are_never_glued_together():
    made = document(*[piece for name in "ABC" for piece in (("h1", name), ("paragraph", "Short."))])
    assert [c.heading_path for c in structure(made).chunks] == [("# A",), ("# B",), ("# C",)]


def test_text_before_the_first_heading_is_a_chunk_without_a_path():
    made = document(("paragraph", "Preface."), ("h1", "A"), ("paragraph", "Text."))
    first = structure(made).chunks[0]
    assert (first.heading_path, first.section, first.text) == ((), "", "Preface.")


def test_a_large_section_is_cut_between_blocks_into_like_parts():
    made = document(("h1", "T"), *[("paragraph", sentences(4, str(n))) for n in range(9)])
    result = structure(made, max_size=140, target_size=120)
    assert all(c.body.startswith("Here is sentence 0") for c in result.chunks)
    sizes = [c.n_tokens for c in result.chunks]
    assert max(sizes) - min(sizes) <= 40
    tiles(made, result)


def test_a_large_paragraph_is_cut_between_sentences():
    made = document(("h1", "T"), ("paragraph", sentences(60)))
    result = structure(made, max_size=120)
    assert len(result.chunks) > 3
    assert all(c.body.startswith("Here") and c.body.endswith(".") for c in result.chunks)
    tiles(made, result)


def test_lines_that_nobody_wrapped_are_paragraphs():
    lines = [sentences(5, f"river {n}") for n in range(12)]
    made = document(("paragraph", "\n".join(lines)))
    result = structure(made, max_size=80, target_size=60)
    assert [c.body for c in result.chunks] == lines
    tiles(made, result)


def test_a_line_without_a_stop_goes_with_the_lines_that_it_leads_to():
    parts = [f"About river {n}\n{sentences(5, f'river {n}')}" for n in range(12)]
    made = document(("paragraph", "\n".join(parts)))
    assert [c.body for c in structure(made, max_size=80, target_size=60).chunks] == parts


def test_wrapped_lines_are_cut_between_sentences():
    lines = textwrap.wrap(sentences(60), 72)
    result = structure(document(("paragraph", "\n".join(lines))), max_size=80, target_size=60)
    assert len(result.chunks) > 5
    assert all(c.body.startswith("Here") and c.body.endswith(".") for c in result.chunks)


def test_ragged_lines_are_cut_between_lines():
    rows = [f"Item {n}. Left | {'value ' * (n % 9 * 3 + 1)}| {n}" for n in range(60)]
    result = structure(document(("paragraph", "\n".join(rows))), max_size=120)
    assert [row for c in result.chunks for row in c.body.split("\n")] == rows


def test_a_part_of_a_paragraph_stands_apart_from_other_paragraphs():
    paragraphs = [sentences(n, f"river {n}") for n in (7, 8, 7, 9, 8, 7)]
    result = structure(document(("h1", "T"), *[("paragraph", text) for text in paragraphs]), max_size=60)
    assert len(result.chunks) > len(paragraphs)
    for c in result.chunks:
        assert any(c.body in text for text in paragraphs), c.body


def test_a_sentence_over_the_cap_is_cut_at_stops_inside_quotation_marks():
    said = " ".join(f"Is this word {n} of many, he asked?" for n in range(40))
    result = structure(document(("paragraph", f"'{said}'")), max_size=60)
    assert len(result.chunks) > 5
    assert all(c.body.rstrip("'").endswith("?") for c in result.chunks)


def test_a_sentence_without_stops_is_cut_at_commas():
    result = structure(document(("paragraph", ", ".join(f"here is clause number {n}" for n in range(60)))), max_size=60)
    assert len(result.chunks) > 5
    assert all(c.body.startswith("here is") for c in result.chunks)


def test_each_part_of_a_large_table_repeats_the_header_rows():
    rows = "\n".join(f"| {n} | value {n} |" for n in range(80))
    made = document(("h1", "T"), ("table", "| key | value |\n|---|---|\n" + rows))
    result = structure(made, max_size=90)
    assert len(result.chunks) > 4
    assert all(c.body.startswith("| key | value |\n|---|---|\n| ") for c in result.chunks)
    assert all(c.body.count("| key |") == 1 for c in result.chunks)
    tiles(made, result)


def test_a_header_that_is_too_large_to_repeat_is_not():
    header = "| " + " | ".join(f"column {n}" for n in range(30)) + " |\n|---|\n"
    made = document(("table", header + "\n".join(f"| {n} |" for n in range(60))))
    result = structure(made, max_size=90)
    assert sum(c.body.count("column 7") for c in result.chunks) == 1


def test_each_part_of_large_code_has_its_fence_and_its_lines():
    code = "\n\n".join(f"def f{n}(x):\n    if x:\n        return {n}" for n in range(30))
    made = document(("h1", "T"), ("code", code))
    result = structure(made, max_size=90)
    assert len(result.chunks) > 3
    assert all(c.body.startswith("```python\n") and c.body.endswith("\n```") for c in result.chunks)
    assert all(c.body.split("\n")[1].startswith("def ") for c in result.chunks), "functions are not torn apart"
    assert sum(c.body.count("        return") for c in result.chunks) == 30
    tiles(made, result)


def test_a_large_list_is_cut_between_items():
    made = document(("h1", "T"), ("list", "\n".join(f"- item {n} of the list, as it is" for n in range(60))))
    result = structure(made, max_size=90)
    assert len(result.chunks) > 3
    assert all(line.startswith("- item") for c in result.chunks for line in c.body.split("\n"))


def test_a_caption_stays_with_its_table():
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {n} |" for n in range(6))
    made = document(("h1", "T"), ("paragraph", sentences(7)), ("caption", "Table 1: numbers."), ("table", table))
    result = structure(made, max_size=90, target_size=80)
    assert result.chunks[-1].body.startswith("Table 1: numbers.")


def test_furniture_is_in_the_span_of_a_chunk_but_not_in_its_body():
    made = document(
        ("furniture", "ACME Confidential"),
        ("h1", "T"),
        ("paragraph", "The text goes"),
        ("furniture", "Page 7"),
        ("paragraph", "on here."),
        before="\n",
    )
    result = structure(made)
    (only,) = result.chunks
    assert only.body == "The text goes\n\non here."
    assert [(s.block, s.type) for s in result.skipped] == [(0, "furniture"), (3, "furniture")]
    tiles(made, result)


def test_blocks_without_text_are_skipped_with_the_reason():
    made = document(("h1", "T"), ("picture", "![](a.png)", {"text": ""}), ("paragraph", "Text."))
    result = structure(made)
    assert [(s.block, s.type, s.reason) for s in result.skipped] == [(1, "picture", "no text")]


def test_authors_and_footnotes_are_text():
    made = document(("h1", "T"), ("authors", "A. Smith, B. Jones"), ("footnote", "[^1]: A note."))
    (only,) = structure(made).chunks
    assert "A. Smith" in only.body
    assert "A note." in only.body


def test_pages_come_from_the_blocks_of_the_chunk():
    made = document(("h1", "T", {"page": 2}), ("paragraph", "One.", {"page": 2}), ("paragraph", "Two.", {"page": 4}))
    (only,) = structure(made).chunks
    assert (only.page_start, only.page_end) == (2, 4)
    assert structure(document(("paragraph", "x"))).chunks[0].page_start is None


def test_the_outermost_headings_of_a_crowded_path_are_left_out_of_the_text_alone():
    pieces = [(f"h{level}", f"Heading of level {level} that is rather long") for level in range(1, 7)]
    made = document(*pieces, ("paragraph", sentences(20)))
    result = structure(made, max_size=64)
    first = next(c for c in result.chunks if "Here is" in c.body)
    assert len(first.heading_path) == 6
    assert first.text.startswith(first.heading_path[-1]) or first.text.startswith("\n".join(first.heading_path[-2:]))
    assert first.n_tokens <= 64
    tiles(made, result)


def test_a_heading_too_long_for_the_path_is_in_the_bodies():
    name = sentences(40)
    made = document(("h1", name), ("paragraph", "The text."))
    result = structure(made, max_size=80)
    assert all(c.n_tokens <= 80 for c in result.chunks)
    assert all(len(c.heading_path[0]) <= 400 for c in result.chunks)
    assert all(any(f"sentence {n} that" in c.body for c in result.chunks) for n in range(40))


def test_an_edit_in_one_section_moves_no_cut_elsewhere():
    def made(extra: int):
        sections = []
        for n in range(40):
            size = 2 + n % 3 + (extra if n == 20 else 0)
            sections += [("h2", f"Section {n}"), ("paragraph", sentences(size, str(n)))]
        return document(("h1", "T"), ("paragraph", sentences(5)), *sections)

    before, after = ({c.text for c in structure(made(n), max_size=120).chunks} for n in (0, 4))
    assert 0 < len(before - after) <= 2
    assert len(after - before) <= 3


@pytest.mark.parametrize("depth", [7, 64, 1200])
def test_any_depth_of_headings_is_chunked(depth):
    pieces = [p for n in range(1, depth + 1) for p in ((f"h{n}", f"Level {n}"), ("paragraph", f"Text {n}."))]
    result = structure(document(*pieces), max_size=40)
    assert len(result.chunks) > depth // 8
    assert all(c.n_tokens <= 40 and len(c.heading_path) <= 64 for c in result.chunks)
    assert all(any(f"Text {n}." in c.body for c in result.chunks) for n in range(1, depth + 1, 97))


def test_text_that_no_block_holds_is_not_lost():
    made = document(("h1", "T"), ("paragraph", "One."), between="\n\nstray words\n\n")
    result = structure(made)
    assert result.chunks[0].body.count("stray words") == 2
    assert result.skipped == ()


@pytest.mark.parametrize("markdown", ["", "  \n\n ", "\ufeff\n"])
def test_a_document_without_text_has_no_chunks(markdown):
    result = structure(document(("furniture", markdown)))
    assert result.chunks == ()
    assert result.skipped[0].type == BlockType.FURNITURE


def test_overlapping_blocks_are_refused_by_name():
    made = document(("paragraph", "One."), ("paragraph", "Two."))
    wrong = type(made)(title="x", markdown="One.", blocks=made.blocks)
    with pytest.raises(ValueError, match=r"block 1 \(paragraph\) spans 6 to 10"):
        structure(wrong)


def test_a_whole_megabyte_without_structure_is_cut_within_the_cap():
    for text in ("x" * 1_000_000, "word " * 200_000, "语" * 300_000):
        made = document(("paragraph", text.strip()))
        result = structure(made)
        assert all(c.n_tokens <= 512 and len(c.text) <= 16 * 240 for c in result.chunks)
        tiles(made, result)
        assert sum(len(c.body.replace(" ", "")) for c in result.chunks) == len(text.replace(" ", ""))


def test_all_is_counted_in_few_calls():
    calls = []

    def count(texts):
        calls.append(len(texts))
        return words(texts)

    chunked(document(*[("paragraph", sentences(40, str(n))) for n in range(50)]), count=count, max_size=64)
    assert len(calls) <= 8


def test_headings_that_a_crowded_path_leaves_out_stand_in_chunks_of_their_own():
    long = [f"Heading number {n} with so many words that it fills its path" for n in range(4)]
    made = document(*[(f"h{n + 1}", text) for n, text in enumerate(long)], ("paragraph", sentences(3)))
    result = structure(made, max_size=64)
    assert all(sum(text in c.text for c in result.chunks) >= 1 for text in long)
    assert all(c.heading_path[-1] in c.text for c in result.chunks)
    assert [len(c.heading_path) for c in result.chunks] == sorted({len(c.heading_path) for c in result.chunks})
    tiles(made, result)


def test_parts_of_a_chunk_over_the_cap_have_paths_of_their_own():
    made = document(("h1", "T"), *[p for n in "ABCD" for p in (("h2", n), ("paragraph", f"{n} " + sentences(1)))])
    for size in range(40, 160, 10):
        result = structure(made, count=swelling, max_size=size)
        for c in result.chunks:
            named = [n for n in "ABCD" if f"{n} Here" in c.body]
            assert (
                c.heading_path == ("# T",)
                if len(named) > 1
                else c.heading_path[1:] in ((), *[(f"## {n}",) for n in named])
            )
        tiles(made, result)


def test_the_end_of_a_fence_is_no_chunk_alone():
    made = document(("code", "x" * 600))
    result = structure(made, max_size=40)
    assert len(result.chunks) == 1 or all("x" in c.body for c in result.chunks)


def test_siblings_of_one_name_are_told_apart_by_their_texts():
    notes = [piece for n in range(12) for piece in (("h2", "Note"), ("paragraph", f"{n} is the number of it. Short."))]
    for at in range(0, 24, 2):
        more = [*notes[:at], ("h2", "Note"), ("paragraph", sentences(12)), *notes[at:]]
        before, after = (structure(document(("h1", "T"), *some), max_size=100).chunks for some in (notes, more))
        gone = {c.text for c in before} - {c.text for c in after}
        assert len(gone) <= 2, "only the chunk that was cut in two, and what was below the title"
