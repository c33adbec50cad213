"""Inputs on which the published package fails or takes time that grows with the square of a block."""

import asyncio
from collections.abc import Callable

import pytest

from ingestd.chunk.compat.structure_first import (
    openings,
    plan_units,
    punctuation_segmenter,
    split_chunks_structure_first,
    split_sentences,
)
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder


@pytest.mark.parametrize("text", ["a\r# H", "abc\r# Heading\rdef", "x\r\r\r- # a\r  b", "a\rb\n===\r\n# c"])
def test_a_lone_carriage_return_ends_a_line(text: str) -> None:
    sentences = split_sentences(text, 1, segmenter=punctuation_segmenter)
    assert "".join(sentences) == text


def test_a_heading_behind_a_lone_carriage_return_is_kept_apart() -> None:
    assert split_sentences("Before\r# Heading\rafter", segmenter=punctuation_segmenter) == [
        "Before\r",
        "# Heading\r",
        "after",
    ]


def test_headings_may_be_nested_deeply() -> None:
    text = "".join("# a" + " ::: b" * depth + "\n\ntext\n\n" for depth in range(1500))
    units = plan_units(text, 200, min_size=0)
    assert [unit.start for unit in units][1:] == [unit.end for unit in units][:-1]


_ROWS = 4_000


@pytest.mark.parametrize(
    "text",
    [
        "# H\n\n| a | b |\n|---|---|\n" + "| x | y |\n" * _ROWS,
        "# H\n\n```\n" + "x = 1\n" * _ROWS + "```\n",
        "# H\n\n<div>\n" + "<p>x</p>\n" * _ROWS,
        "# H\n\n" + "    x = 1\n" * _ROWS,
        "# H\n\n" + "[a]: /u\n" * _ROWS + "\n# I\n",
        "# H\n\n" + "<div " + "x. " * _ROWS,
    ],
    ids=["table", "fence", "html", "code", "definitions", "line"],
)
def test_a_huge_block_behind_the_first_heading_is_parsed_few_times(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _counted(openings.opened_headings)
    monkeypatch.setattr(openings, "opened_headings", parsed)
    chunks = asyncio.run(split_chunks_structure_first(text, DrawnEmbedder(), 300, segmenter=punctuation_segmenter))
    assert "".join(chunk.text for chunk in chunks) == text
    assert parsed.characters < 3 * len(text)  # type: ignore[attr-defined]


def _counted(parse: Callable[..., list[bool]]) -> Callable[..., list[bool]]:
    def counted(text: str) -> list[bool]:
        counted.characters += len(text)  # type: ignore[attr-defined]
        return parse(text)

    counted.characters = 0  # type: ignore[attr-defined]
    return counted


@pytest.mark.parametrize(
    "text",
    ["\0" * 3000, "\ud800 x. " * 500, "\ufeff# A\n" + "b. " * 900, "\u2028" * 3000 + "x", "👨‍👩‍👧‍👦" * 400, "ก" * 3000],
    ids=["nul", "surrogate", "bom", "line separators", "families", "thai"],
)
def test_odd_characters_are_neither_lost_nor_over_the_size(text: str) -> None:
    chunks = asyncio.run(split_chunks_structure_first(text, DrawnEmbedder(), 500, segmenter=punctuation_segmenter))
    assert "".join(chunk.text for chunk in chunks) == text
    assert max(len(chunk.text) for chunk in chunks) <= 500


def test_a_large_unit_of_white_space_is_dropped_as_the_seed_drops_it() -> None:
    text = "\n" * 100 + "# A\nb"
    chunks = asyncio.run(split_chunks_structure_first(text, DrawnEmbedder(), 50, min_size=0))
    assert [chunk.text for chunk in chunks] == ["# A\nb"]
