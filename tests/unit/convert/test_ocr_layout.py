"""Lines in any order become paragraphs in reading order."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestd_adapters.ocr_engine import Line
from ingestd_adapters.ocr_paragraphs import paragraphs


def line(text: str, left: float, top: float, width: float = 0, height: float = 30, *, askew: float = 0.0) -> Line:
    right = left + (width or 14 * len(text))
    corners = [(left, top), (right, top), (right, top + height), (left, top + height)]
    cosine, sine = math.cos(math.radians(askew)), math.sin(math.radians(askew))
    found = tuple((x * cosine - y * sine, x * sine + y * cosine) for x, y in corners)
    return Line(text=text, confidence=0.9, corners=found)  # type: ignore[arg-type]  # four of them


def texts(lines: list[Line]) -> list[str]:
    shuffled = random.Random(1).sample(lines, len(lines))
    return [paragraph.text for paragraph in paragraphs(shuffled)]


def column(name: str, left: float, rows: int, top: float = 200, **how: float) -> list[Line]:
    return [
        line(f"the {name} column goes on in row {row}", left, top + 40 * row, 560, **how) for row in range(1, rows + 1)
    ]


def rows_of(name: str, rows: int) -> str:
    return " ".join(f"the {name} column goes on in row {row}" for row in range(1, rows + 1))


@pytest.mark.parametrize("askew", [0.0, 2.0, -2.0])
def test_columns_are_read_one_after_the_other_below_what_spans_them(askew: float) -> None:
    title = line("A title that spans both of the columns below it", 150, 100, 900, 50, askew=askew)
    lines = [title, *column("left", 60, 8, askew=askew), *column("right", 700, 8, askew=askew)]
    assert texts(lines) == [title.text, rows_of("left", 8), rows_of("right", 8)]


def test_three_columns_are_read_in_order() -> None:
    lines = [
        one for index, name in enumerate(("first", "second", "third")) for one in column(name, 60 + 640 * index, 5)
    ]
    assert texts(lines) == [rows_of("first", 5), rows_of("second", 5), rows_of("third", 5)]


def test_a_caption_between_columns_parts_them() -> None:
    caption = line("Figure 3: what was seen that year, over the whole width of the page", 60, 480, 1200)
    lines = [*column("left", 60, 5), *column("right", 700, 5), caption]
    lines += [*column("low", 60, 5, top=520), *column("last", 700, 5, top=520)]
    assert texts(lines) == [
        rows_of("left", 5),
        rows_of("right", 5),
        caption.text,
        rows_of("low", 5),
        rows_of("last", 5),
    ]


def test_a_table_below_a_paragraph_is_apart_from_it() -> None:
    cells = (("Fruit", "Crates"), ("Apples", "12"), ("Plums", "31"), ("Figs", "2"))
    rows = [
        line(text, 60 + 900 * side, 200 + 40 * row) for row, cell in enumerate(cells) for side, text in enumerate(cell)
    ]
    text = line("What was brought to the market that day, as the clerk counted it", 60, 100, 1000)
    first, table, last = paragraphs([*rows, text, line("So much for fruit, he wrote below it all", 60, 400, 800)])
    assert (first.cells, table.cells, last.cells) == ((), cells, ())
    assert table.level(10) == 0


def test_prose_that_was_found_in_pieces_is_no_table() -> None:
    pieces = [[(60, 300), (400, 700)], [(60, 500), (560, 700)], [(60, 200), (250, 720)], [(60, 650), (670, 700)]]
    found = [
        line("piece", left, 100 + 40 * row, right - left) for row, row_ in enumerate(pieces) for left, right in row_
    ]
    assert [one.cells for one in paragraphs(found)] == [()]


def test_paragraphs_end_at_gaps_and_at_short_last_rows() -> None:
    lines = [
        line("This is the first row of a paragraph that goes", 60, 100, 800),
        line("on to here.", 60, 140, 200),
        line("Another begins without a gap and fills its rows", 60, 180, 800),
        line("as well as it can until the end of the page is", 60, 220, 800),
        line("A third one after a gap", 60, 320, 400),
    ]
    assert [text.split()[0] for text in texts(lines)] == ["This", "Another", "A"]


def test_a_hyphen_that_parts_a_word_goes_and_another_stays() -> None:
    lines = [
        line("he was care-", 60, 100, 800),
        line("ful with the North-", 60, 140, 800),
        line("American maps", 60, 180, 800),
    ]
    assert texts(lines) == ["he was careful with the North- American maps"]


def test_letters_that_know_no_spaces_get_none() -> None:
    assert texts([line("日本語の文は", 60, 100, 300), line("続きます", 60, 140, 300)]) == ["日本語の文は続きます"]


def test_large_lines_are_headings_and_lines_in_the_margin_never_are() -> None:
    lines = [line("A Heading", 60, 100, 500, 60), *column("left", 60, 6), line("stamp of the archive", 5, 200, 30, 600)]
    assert [(one.text, one.level(30)) for one in paragraphs(lines)] == [
        ("A Heading", 1),
        (rows_of("left", 6), 0),
        ("stamp of the archive", 0),
    ]


def test_a_numbered_line_needs_less_to_be_a_heading() -> None:
    lines = [line("2.1 Ice on the sound", 60, 100, 400, 35), *column("left", 60, 6)]
    assert [one.level(30) for one in paragraphs(lines)] == [2, 0]


def test_a_short_row_with_capitals_heads_the_full_row_below_it() -> None:
    rows = (
        "Boots of the Keeper",
        "These are of one piece and of leather that was greased",
        "every week with what was left over from the lamp.",
    )
    lines = [line(text, 60, 100 + 40 * row, 0 if row == 0 else 800) for row, text in enumerate(rows)]
    assert [(one.text, one.level(30)) for one in paragraphs(lines)] == [(rows[0], 2), (f"{rows[1]} {rows[2]}", 0)]
    labels = [line("Flexible Nut", 60, 100), line("Threaded Core", 60, 140)]
    assert [one.level(30) for one in paragraphs(labels)] == [0]


def test_bullets_are_items_of_a_list() -> None:
    lines = [line("• one thing", 60, 100, 300), line("• another thing", 60, 140, 300)]
    assert [(one.text, one.bullet) for one in paragraphs(lines)] == [("one thing", True), ("another thing", True)]


places = st.floats(min_value=0, max_value=4000, allow_nan=False)


@given(st.lists(st.tuples(places, places, st.floats(1, 3000), st.floats(1, 300)), max_size=60))
def test_no_line_is_lost_or_doubled_wherever_it_lies(boxes: list[tuple[float, float, float, float]]) -> None:
    lines = [line(f"line{number}x", *box) for number, box in enumerate(boxes)]
    words = " ".join(paragraph.text for paragraph in paragraphs(lines)).split()
    assert sorted(words) == sorted(one.text for one in lines)
