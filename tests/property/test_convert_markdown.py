"""Our reader of Markdown against markdown-it-py, where both mean CommonMark, and its laws for every input."""

import re
from bisect import bisect_right

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ingestd.model.document import BlockType
from ingestd_adapters.front_matter import front_matter
from ingestd_adapters.markdown_blocks import scan
from ingestd_adapters.markdown_converter import markdown_document
from ingestd_adapters.markdown_lines import Lines

ORACLE = MarkdownIt("commonmark").enable("table")
KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "hr": "rule",
    "html_block": "html",
    "table_open": "table",
}
MEANT = {
    "heading": {BlockType.SECTION, BlockType.FURNITURE},
    "paragraph": {BlockType.PARAGRAPH},
    "code": {BlockType.CODE, BlockType.FURNITURE},
    "list": {BlockType.LIST},
    "quote": {BlockType.PARAGRAPH, BlockType.FURNITURE},
    "rule": {BlockType.FURNITURE},
    "html": {BlockType.FURNITURE, BlockType.PARAGRAPH, BlockType.CODE, BlockType.PICTURE},
    "table": {BlockType.TABLE},
}
# Deliberate differences, kept out of these lines: front matter, footnotes, `$$`, images alone, definitions of links.
# A fence indented by four columns after a quote or a list is left out too: there markdown-it-py ends the paragraph,
# against CommonMark's rule of lazy continuation.
# So are two blank lines behind an empty list item: there markdown-it-py ends the list, where CommonMark has it go on.
EMPTY_ITEM_AND_BLANKS = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]*(?:\n[ \t]*){2}\n")
LINES = (
    """\
# a|## b ##|#|####### no|text|  text|   more|    indented|      deep|\tx|  text two|- item|  - nested|* star|+ plus|1. one
2. two|10) ten|   3. x|-|1.|-\tx|2. |> quote|> > q2|>|> - x|   > q|```|~~~|```py|  ```|- ```|> ```|-     code||||---|===
***|- - -|_ _ _|  # h|- # h|¦ a ¦ b ¦|¦---¦---¦|¦ 1 ¦ 2 ¦|a ¦ b|--¦--|\\¦ a|<div>|</div>|<!-- c|-->|<b>|<pre>|</pre>|- <div>
""".strip("\n")
    .replace("\n", "|")
    .replace("¦", "\0")
    .split("|")
)
LINES = [line.replace("\0", "|") for line in LINES]
any_markdown = st.one_of(
    st.text(max_size=200),
    st.text(alphabet=st.sampled_from("ab -+*#>=_`~<$[]()!|:1.\\\n\t^/\r"), max_size=200),
    st.lists(st.sampled_from(LINES), max_size=12).map("\n".join),
)


def test_blank_lines_behind_an_empty_item_do_not_end_the_list() -> None:
    assert [block.type for block in scan("-\n\n\n-")] == [BlockType.LIST]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=9).map("\n".join))
@example("-\n\n-\n\ntext")
def test_blocks_begin_where_commonmark_begins_them(text: str) -> None:
    assume(not EMPTY_ITEM_AND_BLANKS.search(text))
    theirs = [
        (KINDS[token.type], token.map[0], int(token.tag[1]) if token.type == "heading_open" else None)
        for token in ORACLE.parse(text)
        if token.level == 0 and token.type in KINDS and token.map
    ]
    starts = Lines.of(text).starts
    ours = [(block.type, bisect_right(starts, block.start) - 1, block.level) for block in scan(text)]
    assert [line for _, line, _ in ours] == [line for _, line, _ in theirs]
    for (kind, _, level), (expected, _, their_level) in zip(ours, theirs, strict=True):
        assert kind in MEANT[expected]
        if kind is BlockType.SECTION:
            assert level == their_level


@given(any_markdown)
def test_blocks_are_in_order_and_leave_nothing_but_white_space_between_them(text: str) -> None:
    at = 0
    for block in scan(text):
        assert at <= block.start < block.end <= len(text)
        assert not text[at : block.start].strip()
        at = block.end
    assert not text[at:].strip()


@given(any_markdown)
def test_furniture_carries_no_text_and_everything_else_does(text: str) -> None:
    for block in markdown_document(text, name="x.md").blocks:
        assert bool(block.text.strip()) is (block.type is not BlockType.FURNITURE), block


@given(any_markdown)
def test_line_ends_do_not_change_the_blocks(text: str) -> None:
    text = text.replace("\r", "\n")
    unix = [(block.type, block.text, block.level) for block in scan(text)]
    assert [(block.type, block.text, block.level) for block in scan(text.replace("\n", "\r\n"))] == unix


@given(st.lists(st.text(max_size=30), max_size=12))
def test_front_matter_takes_any_lines(lines: list[str]) -> None:
    lines = [line.replace("\n", "").replace("\r", "") for line in lines]
    found = front_matter(["---", *lines, "---"])
    assert found is None or found.lines <= len(lines) + 2
