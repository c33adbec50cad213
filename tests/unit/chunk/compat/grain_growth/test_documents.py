"""The rules of growth one by one, and what is done otherwise than in the published package."""

import json
import re
import sys
from typing import Any

import pytest

from ingestd.chunk.compat.grain_growth import (
    as_chunk,
    bind_formula_groups,
    chunk_document,
    chunk_file,
    ends_cleanly,
    fences_balanced,
    grow,
    load_blocks,
    validate_blocks,
)


def block(kind: str, text: Any = "Some text here.", page: Any = 0, **more: Any) -> Any:
    return {"type": kind, "text": text, "page": page, **more}


def bodies(*blocks: Any, **sizes: Any) -> list[str]:
    return [chunk["body"] for chunk in chunk_document(blocks, "paper", **sizes)[0]]


def test_a_section_is_a_wall_and_stands_in_the_heading():
    chunks, skipped = chunk_document(
        [block("title", "Steel"), block("paragraph"), block("section", "2 Grains", 1), block("paragraph", page=1)], "f"
    )
    assert [chunk["text"] for chunk in chunks] == [
        "Steel\n\nSome text here.",
        "Steel \u203a 2 Grains\n\nSome text here.",
    ]
    assert chunks[1]["metadata"] == {
        "filename": "f",
        "title": "Steel",
        "section": "2 Grains",
        "page_start": 1,
        "page_end": 1,
        "block_types": "paragraph",
        "chunk_index": 1,
        "n_chars": 15,
    }
    assert skipped == []


def test_authors_footnotes_and_formulas_that_tell_nothing_are_skipped_as_they_came():
    given = [block("authors"), block("footnote", None), block("formula", "0123456789"), block("formula", "E=mc^2")]
    chunks, skipped = chunk_document(given, "f")
    assert chunks == []
    assert all(one is other for one, other in zip(skipped, given, strict=True))


def test_a_chunk_that_ends_within_a_sentence_grows_to_the_most():
    sizes = {"target_chars": 20, "max_chars": 60}
    assert bodies(block("paragraph", "It grows while"), block("paragraph", "it is hot."), **sizes) == [
        "It grows while\n\nit is hot."
    ]
    assert bodies(block("paragraph", "It grows here."), block("paragraph", "It is hot."), **sizes) == [
        "It grows here.",
        "It is hot.",
    ]


def test_a_caption_is_repeated_above_each_part_of_its_table():
    parts = bodies(block("table", "| a |\n| b |"), block("caption", "Table 1."), max_chars=45)
    assert parts == [
        "Table 1.\n\n~~~table part 1 of 2\n| a |\n~~~",
        "Table 1.\n\n~~~table part 2 of 2\n| b |\n~~~",
    ]
    assert all(map(fences_balanced, parts))


def test_a_sentence_is_said_again_in_the_next_piece():
    text = "One is here. Two is here too. Three. Four is the last one."
    grains, _ = grow([block("paragraph", text)], "f", 40, 45)
    assert [(grain.body, grain.repeated) for grain in grains] == [
        ("One is here. Two is here too. Three.", 0),
        ("Three. Four is the last one.", 6),
    ]


def test_grains_are_the_chunks_with_the_blocks_that_they_come_from():
    given = [block("title", "T"), block("paragraph"), block("footnote"), block("list", "a\nb"), block("table", "x")]
    grains, _ = grow(given, "f")
    assert [(grain.start, grain.stop) for grain in grains] == [(1, 4), (4, 5)]
    assert [as_chunk(grain, "f", index) for index, grain in enumerate(grains)] == chunk_document(given, "f")[0]


@pytest.mark.parametrize("target", [10, 30, 64, 200])
def test_the_range_of_a_grain_holds_the_blocks_that_it_says(target):
    kinds = [
        "paragraph",
        "paragraph",
        "list",
        "paragraph",
        "code",
        "table",
        "formula",
        "paragraph",
        "caption",
        "section",
    ]
    given = [block(kinds[at * 7 % 10], f"Block <{at}> is this.", at) for at in range(120)]
    grains, _ = grow(given, "f", target, 10 * target)
    for grain in grains:
        said = [int(number) for number in re.findall("<([0-9]+)>", grain.body)]
        assert said == list(range(grain.start, grain.stop))
        assert (grain.page_start, grain.page_end) == (said[0], said[-1])


@pytest.mark.parametrize(("end", "is_clean"), [(".", True), ("", False), ("!", True), (":", False)])
@pytest.mark.parametrize("closers", [0, 1, 64, 500])
def test_any_number_of_closing_marks_may_follow_a_stop(end, is_clean, closers):
    assert ends_cleanly("It is" + end + ")" * closers + " " * closers) is is_clean


def test_an_iterator_loses_what_stands_before_its_first_title_as_in_the_package():
    given = iter([block("paragraph", "Lost."), block("title", "T"), block("paragraph", "Kept.")])
    assert [chunk["text"] for chunk in chunk_document(given, "f")[0]] == ["T\n\nKept."]


def test_what_the_validator_accepts_is_chunked():
    given: Any = [{"type": "paragraph"}, block("list", None), {"type": "formula"}, {"type": "caption", "text": None}]
    assert validate_blocks(given) == []
    chunks, skipped = chunk_document(given, "f")
    assert [chunk["body"] for chunk in chunks] == ["", ""]
    assert skipped == [{"type": "formula"}]
    assert bind_formula_groups(given) == [given[0], given[1], *given[2:]]


def test_pages_that_are_none_leave_the_pages_that_are_known():
    chunks, _ = chunk_document([block("paragraph", page=None), block("paragraph", page=4)], "f")
    assert (chunks[0]["metadata"]["page_start"], chunks[0]["metadata"]["page_end"]) == (4, 4)
    chunks, _ = chunk_document([block("paragraph", page=None), block("paragraph", page=None)], "f")
    assert (chunks[0]["metadata"]["page_start"], chunks[0]["metadata"]["page_end"]) == (None, None)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([block("paragraph"), block(["list"])], r"block 1: type \['list'\] is not one of \['authors', "),
        ([{"text": "x", "page": 0}], "block 0: type is missing; give one of"),
        ([block("paragraph"), "text"], "block 1: must be a dict, got str"),
        ([None], "block 0: must be a dict, got NoneType"),
        ([block("paragraph", 5)], "block 0: text must be a string or None, got int"),
        ([block("title", ["T"])], "block 0: text must be a string or None, got list"),
        ([block("paragraph", page="1"), block("paragraph")], "block 0: pages of types int, str cannot be ordered"),
        ([block("bound")], "block 0: a bound block needs its members"),
        (None, "blocks must be a list, got NoneType"),
        ("text", "blocks must be a list, got str"),
    ],
)
def test_blocks_that_cannot_be_chunked_are_named(blocks, message):
    with pytest.raises(ValueError, match=message):
        chunk_document(blocks, "f")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"target_chars": None}, "target_chars must be a number of characters, got None"),
        ({"max_chars": "2000"}, "max_chars must be a number of characters, got '2000'"),
        ({"max_chars": float("nan")}, "max_chars must be a number"),
        ({"lead_sentences": 1.5}, "lead_sentences must be an integer, got 1.5"),
    ],
)
def test_sizes_that_are_none_are_named(sizes, message):
    with pytest.raises(ValueError, match=message):
        chunk_document([block("paragraph")], "f", **sizes)


@pytest.mark.parametrize("target", [float("inf"), float("-inf"), 0, 25.5])
def test_sizes_may_be_any_number(target):
    given = [block("paragraph", "It is hot. " * 20), block("table", "| a |\n" * 9), block("list", "It is. " * 9)]
    for most in (float("inf"), float("-inf"), 60):
        found = bodies(*given, target_chars=target, max_chars=most)
        assert "".join("".join(found).split()).count("hot.") >= 20


def test_a_type_that_is_not_hashable_is_a_problem_and_no_crash():
    (problem,) = validate_blocks([block(["list"])], strict=False)
    assert problem.startswith("block 0: type ['list'] is not one of ['authors', 'caption', 'footnote', 'formula', ")


def test_a_caption_that_would_be_repeated_without_end_is_refused():
    given = [block("caption", "c" * 100_000), block("table", "| row |\n" * 10_000)]
    with pytest.raises(ValueError, match="max_chars: the title, section headings and captions repeated"):
        chunk_document(given, "f")


def test_a_heading_that_would_be_repeated_without_end_is_refused():
    given = [block("section", "s" * 1_000_000), *[block("paragraph", "One sentence. " * 110)] * 100]
    with pytest.raises(ValueError, match="at block 50; give a larger max_chars"):
        chunk_document(given, "f")


@pytest.mark.parametrize(
    "kind_and_text",
    [
        ("paragraph", "word " * 200_000),
        ("paragraph", "Is it. " * 150_000),
        ("paragraph", "x" * 1_000_000),
        ("paragraph", "." + " " * 1_000_000 + "a"),
        ("paragraph", ".)" * 500_000),
        ("list", "item\n" * 200_000),
        ("list", "It is. " * 150_000),
        ("table", "| a | b |\n" * 100_000),
        ("table", "\n" * 1_000_000),
        ("table", "~" * 1_000_000),
        ("formula", "~~~\n" * 250_000 + "abc"),
        ("caption", "c" * 1_000_000),
    ],
)
def test_one_huge_block_takes_a_number_of_steps_that_grows_with_it(kind_and_text):
    kind, text = kind_and_text
    half = text[: len(text) // 2]
    counted = [_calls(lambda one=one: bodies(block(kind, one))) for one in (half, text)]
    assert counted[1] < 2.2 * counted[0] + 1000


def _calls(run: Any) -> int:
    """Events of the interpreter: the same on every machine."""
    count = 0

    def count_one(*_: Any) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def test_many_sentences_that_may_stay_with_a_formula_are_looked_at_once():
    lead = "It is so. " * 50_000 + "It holds that"
    given = [block("paragraph", lead), block("formula", "a = b + c + d")]
    assert bodies(*given, lead_sentences=10**9)[-1].endswith(
        "It is so. It holds that\n\n~~~formula\na = b + c + d\n~~~"
    )


def test_blocks_come_from_a_file(tmp_path):
    path = tmp_path / "a.paper.json"
    path.write_text(json.dumps({"blocks": [block("paragraph", "\u00c9t\u00e9.")], "source": "s"}), encoding="utf-8")
    assert load_blocks(path) == ([block("paragraph", "\u00c9t\u00e9.")], "s")
    chunks, skipped = chunk_file(str(path))
    assert chunks[0]["text"] == "a.paper\n\n\u00c9t\u00e9."
    assert skipped == []
    assert chunk_file(path, 5, 6)[0] == chunks


@pytest.mark.parametrize("content", ["[]", "{}", '{"blocks": null}', '{"blocks":', "\ufeff{}", '"blocks"'])
def test_a_file_without_blocks_is_refused(tmp_path, content):
    path = tmp_path / "paper.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"paper\.json|line 1 column|BOM"):
        chunk_file(path)
