"""Which chunklets begin with a heading, and whether a document begins with two."""

import re
from bisect import bisect_left
from itertools import accumulate

from ingestd.chunk.compat.structure_first.blocks import Blocks, Leading, opened_headings, parser_line_starts

_MAY_BE_HEADING = re.compile(r"(?:\A|[\r\n]) {0,3}(?:#{1,6}(?:[ \t\r\n]|\Z)|(?:=+|-+)[ \t]*(?:[\r\n]|\Z))")
_LINE_END = re.compile(r"[\r\n]|\Z")
_DECIDED_BY_FIRST_LINE = frozenset({"fence", "html_block", "hr"})
_LOOKS = 8
"""Beginnings of one block that are parsed: one that is still another block after so many chunklets is taken for itself."""


def heading_flags(chunklet: str) -> tuple[bool, bool]:
    """Whether the first block that a chunklet opens is a heading, and whether it is the only one.

    Blocks that hold no others (fences, code, HTML, rules, definitions) count for nothing, as in the seed.
    """
    if not _MAY_BE_HEADING.search(chunklet):
        return False, False
    opened = opened_headings(chunklet)
    starts = bool(opened) and opened[0]
    return starts, starts and len(opened) == 1


def begins_with_two_headings(chunklets: list[str], text: str, blocks: Blocks) -> bool:
    """Whether the first blocks of the shortest beginning that opens two are both headings.

    A beginning ends with a chunklet, perhaps within a block, which can make another block of it than it is in the text.
    Only beginnings for which that can matter are parsed, and only from the block on that they end in.
    """
    leading = blocks.leading
    if not leading or not _may_begin_with_heading(leading, text):
        return False
    starts = parser_line_starts(text)
    places = [int(starts[block.first]) for block in leading]
    places[0] = 0
    settled, opened = _settled(leading), _opened_before(leading)
    looks: dict[int, int] = {}
    for end in accumulate(map(len, chunklets)):
        index = max(bisect_left(places, end) - 1, 0)
        if _is_itself(leading[index], text, int(starts[leading[index].first]), end):
            continue
        for start in (settled[index], index):
            looks[start] = looks.get(start, 0) + 1
            if looks[start] <= _LOOKS:
                flags = [*opened[start], *opened_headings(text[places[start] : end])]
                break
        else:
            flags = [*opened[index], *leading[index].headings]
        if len(flags) >= 2:
            return flags[0] and flags[1]
    return False


def _settled(leading: tuple[Leading, ...]) -> list[int]:
    """For each block the one from which on it may be another, where the text is cut off: definitions look ahead."""
    settled: list[int] = []
    for index in range(len(leading)):
        follows_definition = index and leading[index - 1].rule == "reference"
        settled.append(settled[index - 1] if follows_definition else index)
    return settled


def _opened_before(leading: tuple[Leading, ...]) -> list[list[bool]]:
    """For each block what those before it open, as whether it is a heading."""
    before: list[list[bool]] = [[]]
    for block in leading[:-1]:
        before.append([*before[-1], *block.headings])
    return before


def _may_begin_with_heading(leading: tuple[Leading, ...], text: str) -> bool:
    """False only where the first block that opens anything is something else, however the text is cut off."""
    if any(block.rule == "reference" for block in leading):
        return True
    first = next((block for block in leading if block.headings), None)
    if first is None:
        return False
    return first.headings[0] or text.lstrip()[:1] == "["


def _is_itself(block: Leading, text: str, start: int, end: int) -> bool:
    """Whether a block that opens nothing does so already up to this end."""
    if block.rule == "code":
        return True
    if block.rule not in _DECIDED_BY_FIRST_LINE:
        return False
    ending = _LINE_END.search(text, start)
    return ending is not None and ending.start() <= end
