import pytest
from markdown_it import MarkdownIt

from ingestd.chunk.compat.structure_first.block_parser import top_blocks
from ingestd.chunk.compat.structure_first.blocks import blocks_of
from tests.unit.chunk.compat.structure_first.generated import document


def _markdown_it(text: str) -> list[tuple[str, list[int] | None]]:
    return [(token.type, token.map) for token in MarkdownIt("commonmark").parse(text) if token.nesting == 1]


def _ours(text: str) -> list[tuple[str, list[int] | None]]:
    return [(opening.kind, opening.map) for block in top_blocks(text) for opening in block.openings]


def test_blocks_are_those_of_markdown_it_in_random_documents() -> None:
    different = [seed for seed in range(150) if _ours(document(seed)) != _markdown_it(document(seed))]
    assert different == []


@pytest.mark.slow
def test_blocks_are_those_of_markdown_it_in_many_random_documents() -> None:
    different = [seed for seed in range(150, 20_000) if _ours(document(seed)) != _markdown_it(document(seed))]
    assert different == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "a",
        "# a",
        "a\n---",
        "> a\nb\n---",
        "- a\n\n  b\n- c\n   - d\n",
        "-\n\n  a",
        "1. a\n2) b",
        "a\n2. b",
        "a\n1. b",
        "- " * 30 + "a",
        ">" * 30 + "a",
        "[a]: /u 'x\n===\n'",
        "[a]: /u 'x\n===\n",
        "<div>\n\n# a",
        "<!--\n\n# a\n-->\n# b",
        "> ```\na\n```",
        "\ta\n# b",
        "a\rb\r\n# c\r",
        "\0# a\n# \0",
        "> a\n    b\n\t- c",
        "- a\n > b\nc",
    ],
)
def test_blocks_are_those_of_markdown_it(text: str) -> None:
    assert _ours(text) == _markdown_it(text)


def test_leading_blocks_end_with_the_second_opening() -> None:
    blocks = blocks_of("```\nx\n```\n# a\n\n---\n\n# b\n\n# c\n")
    assert [block.rule for block in blocks.leading] == ["fence", "heading", "hr", "heading"]
    assert blocks.headings == ((3, 4), (7, 8), (9, 10))
