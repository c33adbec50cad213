from itertools import pairwise

from ingestd.chunk import ChunkOptions, sizes_of
from tests.unit.chunk.build import chunked, document, sentences


def grains(made, **options):
    return chunked(made, name="grain-growth", **options)


def test_blocks_grow_whole_to_the_target():
    made = document(("h1", "T"), *[("paragraph", sentences(3, str(n))) for n in range(12)])
    result = grains(made, target_size=90, max_size=120)
    assert all(c.body.startswith("Here is sentence 0") for c in result.chunks)
    assert all(60 <= c.n_tokens <= 120 for c in result.chunks)


def test_a_heading_is_a_wall():
    made = document(
        ("h1", "T"), ("paragraph", "One."), ("h2", "A"), ("paragraph", "Two."), ("h2", "B"), ("paragraph", "Three.")
    )
    result = grains(made)
    assert [(c.heading_path, c.body) for c in result.chunks] == [
        (("# T",), "One."),
        (("# T", "## A"), "Two."),
        (("# T", "## B"), "Three."),
    ]


def test_headings_without_text_go_with_the_next_section_or_stand_alone():
    made = document(("h1", "T"), ("h2", "A"), ("paragraph", "Two."), ("h2", "B"))
    first, last = grains(made).chunks
    assert (first.heading_path, first.char_start, first.body) == (("# T", "## A"), 0, "Two.")
    assert (last.heading_path, last.body) == (("# T", "## B"), "## B")


def test_a_table_stands_alone_with_its_caption():
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    made = document(
        ("h1", "T"), ("paragraph", "Before."), ("caption", "Table 1."), ("table", table), ("paragraph", "After.")
    )
    assert [c.body for c in grains(made).chunks] == ["Before.", "Table 1.\n\n" + table, "After."]


def test_captions_and_tables_in_turn_are_paired_from_the_first():
    one, two = ("| a |\n|---|\n| 1 |", "| b |\n|---|\n| 2 |")
    below = document(("table", one), ("caption", "Table 1."), ("table", two), ("caption", "Table 2."))
    assert [c.body for c in grains(below).chunks] == [one + "\n\nTable 1.", two + "\n\nTable 2."]
    above = document(("caption", "Table 1."), ("table", one), ("caption", "Table 2."), ("table", two))
    assert [c.body for c in grains(above).chunks] == ["Table 1.\n\n" + one, "Table 2.\n\n" + two]


def test_a_formula_stays_whole_with_the_sentence_that_leads_to_it():
    made = document(
        ("h1", "T"),
        ("paragraph", sentences(9) + " The energy is then given by"),
        ("formula", "$$\nE = m c^2\n$$"),
        ("paragraph", "where m is the mass."),
        ("paragraph", sentences(8)),
    )
    bodies = [c.body for c in grains(made, target_size=100, max_size=110).chunks]
    whole = [body for body in bodies if "E = m c^2" in body]
    assert len(whole) == 1
    assert "The energy is then given by\n\n$$\nE = m c^2\n$$\n\nwhere m is" in whole[0]


def test_parts_of_a_split_paragraph_overlap_by_a_sentence():
    made = document(("h1", "T"), ("paragraph", sentences(60)))
    result = grains(made, target_size=80, max_size=110)
    pairs = list(zip(result.chunks, result.chunks[1:], strict=False))
    assert len(pairs) > 3
    for before, after in pairs:
        assert after.char_start < before.char_end
        assert after.body.split(".")[0] + "." in before.body


def test_whole_paragraphs_do_not_overlap():
    made = document(("h1", "T"), *[("paragraph", sentences(5, str(n))) for n in range(9)])
    result = grains(made, target_size=60, max_size=80)
    assert all(a.char_end <= b.char_start for a, b in zip(result.chunks, result.chunks[1:], strict=False))


def test_a_short_last_chunk_goes_to_the_one_before_it():
    made = document(("h1", "T"), ("paragraph", sentences(9)), ("paragraph", sentences(9)), ("paragraph", "The end."))
    result = grains(made, target_size=80, max_size=110, min_size=30)
    assert result.chunks[-1].body.endswith("The end.")
    assert len(result.chunks) == 2


def test_authors_are_skipped_and_footnotes_are_not():
    made = document(
        ("h1", "T"), ("authors", "A. Smith"), ("paragraph", "Text."), ("footnote", "1 A note."), ("furniture", "7")
    )
    result = grains(made)
    assert [c.body for c in result.chunks] == ["Text.\n\n1 A note."]
    assert [(s.block, s.type) for s in result.skipped] == [(1, "authors"), (4, "furniture")]


def test_each_part_of_a_large_table_has_its_header_rows():
    rows = "\n".join(f"| {n} | value {n} |" for n in range(80))
    made = document(("caption", "Table 1."), ("table", "| key | value |\n|---|---|\n" + rows), ("paragraph", "After."))
    *parts, after = grains(made, max_size=90).chunks
    assert len(parts) > 4
    assert all(c.body.startswith("Table 1.\n\n| key | value |\n|---|---|\n| ") for c in parts)
    assert after.body == "After."


def test_a_section_that_grows_changes_no_other():
    def made(extra: int):
        return document(
            *[
                p
                for n in range(9)
                for p in (("h1", str(n)), ("paragraph", sentences(30 + (extra if n == 4 else 0), str(n))))
            ]
        )

    before, after = ([c.text for c in grains(made(n)).chunks if c.section != "4"] for n in (0, 30))
    assert before == after


def test_the_default_sizes_suit_an_embedder_of_512_tokens():
    assert sizes_of(ChunkOptions(name="grain-growth")).max_size <= 512


def test_headings_that_a_crowded_path_leaves_out_stand_in_chunks_of_their_own():
    long = [f"Heading number {n} with so many words that it fills its path" for n in range(3)]
    made = document(*[(f"h{n + 1}", text) for n, text in enumerate(long)], ("paragraph", sentences(3)))
    result = grains(made, max_size=64)
    assert all(sum(text in c.text for c in result.chunks) >= 1 for text in long)
    assert all(c.heading_path[-1] in c.text for c in result.chunks)


def test_parts_of_a_long_heading_do_not_overlap():
    chunks = grains(document(("h1", "word " * 300)), max_size=60).chunks
    assert all(a.char_end <= b.char_start for a, b in pairwise(chunks))


def test_a_part_of_a_paragraph_grows_into_no_other():
    paragraphs = [sentences(n, f"river {n}") for n in (7, 8, 7, 9, 8, 7)]
    result = chunked(
        document(("h1", "T"), *[("paragraph", text) for text in paragraphs]), name="grain-growth", max_size=60
    )
    assert len(result.chunks) > len(paragraphs)
    for c in result.chunks:
        assert any(c.body in text for text in paragraphs), c.body
