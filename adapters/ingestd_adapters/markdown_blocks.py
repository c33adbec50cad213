"""Blocks of a Markdown text with their spans, in one pass whose cost grows with the text alone.

Only the outermost blocks are told apart: a list is one block with its lines, a block quote one paragraph. The
differences from CommonMark are deliberate: front matter, footnotes, ``$$`` formulas and paragraphs of images alone are
blocks of their own, and what carries no text (rules, comments, definitions of links) is furniture.
"""

import re

from ingestd.model.document import Block, BlockType
from ingestd_adapters.markdown_containers import container_end
from ingestd_adapters.markdown_extents import fence_end, footnote_end, html_block_end, indented_end, table_end
from ingestd_adapters.markdown_lines import (
    INDENTED,
    Lines,
    breaks_paragraph,
    fence,
    first_column,
    heading_level,
    heading_text,
    html_end,
    list_marker,
    plain_start,
    table_begins,
    thematic_break,
    underline_level,
)
from ingestd_adapters.markdown_text import html_text, images_alone, unquoted

_FOOTNOTE = re.compile(r"\[\^[^\]\s]++\]:")
_LINK_DEFINITION = re.compile(r" {0,3}+\[[^\]\[]++\]: *+\S++(?: ++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+ *+$")


def scan(text: str, first_line: int = 0) -> list[Block]:
    """Outermost blocks of the text from a line on, in order.

    Every character of the text that is no white space lies in exactly one block, for every input.
    """
    scanner = _Scanner(Lines.of(text))
    index, count = first_line, len(scanner.lines)
    while index < count:
        index = scanner.take(index)
    return scanner.blocks


class _Scanner:
    """The lines, and the blocks found so far."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self._no_formula_before = 0

    def take(self, index: int) -> int:
        """Take the block that begins at the line, or skip a blank line; give the line after it."""
        line = self.lines.expanded(index)
        at = first_column(line)
        if at >= len(line):
            return index + 1
        if at >= INDENTED:
            return self._indented(index)
        if plain_start(line, at):
            return self._table(index) or self._paragraph(index)
        return (
            self._heading(index, line, at)
            or self._fenced(index, line, at)
            or self._rule(index, line, at)
            or self._container(index, line, at)
            or self._html(index, line, at)
            or self._formula(index, line, at)
            or self._footnote(index, line, at)
            or self._table(index)
            or self._paragraph(index)
        )

    def _add(
        self,
        kind: BlockType,
        first: int,
        after: int,
        text: str,
        *,
        level: int | None = None,
        language: str | None = None,
        header_rows: int = 0,
    ) -> int:
        """Add the block of the lines from ``first`` up to ``after``, furniture when it has no text; give ``after``."""
        if not text or text.isspace():
            kind, text, level, language, header_rows = BlockType.FURNITURE, "", None, None, 0
        start, end = self.lines.starts[first], self.lines.ends[after - 1]
        self.blocks.append(
            Block(type=kind, text=text, start=start, end=end, level=level, language=language, header_rows=header_rows)
        )
        return after

    def _text(self, first: int, after: int) -> str:
        """Lines joined by LF, whatever ends them in the file."""
        if after - first == 1:
            return self.lines.raw(first)
        return "\n".join(self.lines.raw(index) for index in range(first, after))

    def _heading(self, index: int, line: str, at: int) -> int:
        level = heading_level(line, at)
        if not level:
            return 0
        return self._add(BlockType.SECTION, index, index + 1, heading_text(self.lines.raw(index)), level=level)

    def _fenced(self, index: int, line: str, at: int) -> int:
        opened = fence(line, at)
        if not opened:
            return 0
        after = fence_end(self.lines, index, opened)
        text = self._text(index + 1, after) if after > index + 1 else ""
        words = line[at + len(opened) :].split(maxsplit=1)
        language = words[0][:64] if words else None
        return self._add(BlockType.CODE, index, min(after + 1, len(self.lines)), text, language=language)

    def _indented(self, index: int) -> int:
        last = indented_end(self.lines, index)
        text = "\n".join(self.lines.expanded(each)[INDENTED:] for each in range(index, last))
        return self._add(BlockType.CODE, index, last, text)

    def _rule(self, index: int, line: str, at: int) -> int:
        return self._add(BlockType.FURNITURE, index, index + 1, "") if thematic_break(line, at) else 0

    def _container(self, index: int, line: str, at: int) -> int:
        if line[at] == ">":
            after = container_end(self.lines, index)
            text = "\n".join(unquoted(self.lines.raw(each)) for each in range(index, after)).strip()
            return self._add(BlockType.PARAGRAPH, index, after, text)
        if list_marker(line, at) is None:
            return 0
        after = container_end(self.lines, index)
        return self._add(BlockType.LIST, index, after, self._text(index, after))

    def _html(self, index: int, line: str, at: int) -> int:
        ending = html_end(line, at, interrupting=False)
        if ending is None:
            return 0
        after = html_block_end(self.lines, index, at, ending)
        return self._add_html(index, after)

    def _add_html(self, index: int, after: int) -> int:
        source = self._text(index, after)
        kind, text = html_text(source)
        return self._add(kind, index, after, text)

    def _formula(self, index: int, line: str, at: int) -> int:
        """A block between two ``$$``, which ends before the first blank line."""
        if line[at : at + 2] != "$$" or index < self._no_formula_before:
            return 0
        after = index
        while after < len(self.lines):
            inner = self.lines.raw(after).strip(" \t")
            if not inner:
                break
            if inner.endswith("$$") and (after > index or len(inner) > 3):
                text = self._text(index, after + 1).strip()[2:-2].strip()
                return self._add(BlockType.FORMULA, index, after + 1, text)
            after += 1
        self._no_formula_before = after
        return 0

    def _footnote(self, index: int, line: str, at: int) -> int:
        found = _FOOTNOTE.match(line, at)
        if not found:
            return 0
        last = footnote_end(self.lines, index)
        text = self._text(index, last).strip()
        text = text[text.index("]:") + 2 :].strip()
        return self._add(BlockType.FOOTNOTE, index, last, text)

    def _table(self, index: int) -> int:
        if not table_begins(self.lines, index):
            return 0
        after = table_end(self.lines, index)
        return self._add(BlockType.TABLE, index, after, self._text(index, after), header_rows=2)

    def _paragraph(self, index: int) -> int:
        after, count = index + 1, len(self.lines)
        while after < count:
            line = self.lines.expanded(after)
            at = first_column(line)
            if at >= len(line):
                break
            if at < INDENTED:
                if level := underline_level(line, at):
                    text = " ".join(self._text(index, after).split("\n")).strip()
                    return self._add(BlockType.SECTION, index, after + 1, text, level=level)
                if breaks_paragraph(line, at) or table_begins(self.lines, after):
                    break
            after += 1
        return self._add_paragraph(index, after)

    def _add_paragraph(self, index: int, after: int) -> int:
        text = "\n".join(self.lines.raw(each).strip(" \t") for each in range(index, after))
        if text[0] == "[" and all(_LINK_DEFINITION.match(self.lines.raw(each)) for each in range(index, after)):
            return self._add(BlockType.FURNITURE, index, after, "")
        if text[0] in "![" and (alternative := images_alone(text)) is not None:
            return self._add(BlockType.PICTURE, index, after, alternative)
        return self._add(BlockType.PARAGRAPH, index, after, text)
