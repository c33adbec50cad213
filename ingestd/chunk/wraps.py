"""What every part of a split table or fence carries so that it reads alone."""

import re
from dataclasses import dataclass

from ingestd.model.document import Block, BlockType

_FENCE = re.compile(r"[ \t>]{0,16}(?P<bar>`{3,}|~{3,})(?P<language>[^\r\n]*)")
_LINE = re.compile(r"[^\r\n]+")
LONGEST_LANGUAGE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrap:
    """Text around each part of a block but for what its first and last parts have already."""

    before: str = ""
    after: str = ""
    leading: int = 0
    """Lines at the block's start that stay with the line after them."""
    trailing: int = 0
    """Lines at the block's end that stay with the line before them."""


NO_WRAP = Wrap()


def wrap(markdown: str, block: Block) -> Wrap:
    """Header rows of a table, or the fence of code; :data:`NO_WRAP` for every other block."""
    if block.type is BlockType.TABLE and block.header_rows > 0:
        return _header(markdown, block)
    if block.type is BlockType.CODE:
        return _fence(markdown, block)
    return NO_WRAP


def _header(markdown: str, block: Block) -> Wrap:
    end = block.start
    rows = 0
    for line in _LINE.finditer(markdown, block.start, block.end):
        if rows == block.header_rows:
            return Wrap(before=markdown[block.start : end] + "\n", leading=rows)
        rows, end = rows + 1, line.end()
    return NO_WRAP


def _fence(markdown: str, block: Block) -> Wrap:
    opening = _FENCE.match(markdown, block.start, block.end)
    if opening is None:
        return NO_WRAP
    bar = opening["bar"]
    language = opening["language"].strip()
    if len(language) > LONGEST_LANGUAGE or "`" in language:
        language = (block.language or "")[:LONGEST_LANGUAGE]
    last = markdown[
        max(markdown.rfind("\n", block.start, block.end), markdown.rfind("\r", block.start, block.end)) + 1 : block.end
    ]
    closing = last.strip(" \t>")
    closed = len(closing) >= len(bar) and set(closing) == {bar[0]}
    return Wrap(before=f"{bar}{language}\n", after=f"\n{bar}", leading=1, trailing=int(closed))
