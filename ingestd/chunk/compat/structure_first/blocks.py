"""What of a text's block structure the stages look at."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


class Kind(IntFlag):
    """What blocks a line opens."""

    HEADING = 1
    BLOCKQUOTE = 2
    LIST = 4
    PARAGRAPH = 8


_KINDS = {
    "heading_open": Kind.HEADING.value,
    "blockquote_open": Kind.BLOCKQUOTE.value,
    "bullet_list_open": Kind.LIST.value,
    "ordered_list_open": Kind.LIST.value,
    "paragraph_open": Kind.PARAGRAPH.value,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """One of the first blocks of a text that no other contains."""

    rule: str
    first: int
    """Its first line."""
    headings: tuple[bool, ...]
    """For each block that it opens, itself included, whether that is a heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Where the blocks of a text begin. Lines end where the Markdown parser ends them."""

    headings: tuple[tuple[int, int], ...]
    """First line of each heading, and the line after its last one."""
    kinds: bytes
    """For each line what it opens, as a :class:`Kind`."""
    leading: tuple[Leading, ...]
    """The first blocks, up to the one with which two blocks are open."""


def blocks_of(text: str) -> Blocks:
    """Parse a text."""
    from ingestd.chunk.compat.structure_first.block_parser import top_blocks

    headings: list[tuple[int, int]] = []
    kinds = bytearray(text.count("\n") + text.count("\r") + 1)
    leading: list[Leading] = []
    opened = 0
    for block in top_blocks(text):
        if opened < 2:
            flags = tuple(opening.kind == "heading_open" for opening in block.openings)
            leading.append(Leading(rule=block.rule, first=block.first, headings=flags))
            opened += len(flags)
        for opening in block.openings:
            kinds[opening.map[0]] |= _KINDS.get(opening.kind, 0)
            if opening.kind == "heading_open":
                headings.append((opening.map[0], opening.map[1]))
    return Blocks(headings=tuple(headings), kinds=bytes(kinds), leading=tuple(leading))


def opened_headings(text: str, enough: int = 2) -> list[bool]:
    """For each block that a text opens whether it is a heading, in order; stops after ``enough`` of them."""
    from ingestd.chunk.compat.structure_first.block_parser import top_blocks

    flags: list[bool] = []
    for block in top_blocks(text):
        flags.extend(opening.kind == "heading_open" for opening in block.openings)
        if len(flags) >= enough:
            break
    return flags


def line_starts(text: str) -> NDArray[np.intp]:
    """Offsets of the lines of a text that line feeds alone end, the seed's lines."""
    return _starts(map(len, text.split("\n")))


def parser_line_starts(text: str) -> NDArray[np.intp]:
    """Offsets of the lines of a text as the Markdown parser ends them."""
    if "\r" not in text:
        return line_starts(text)
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return np.array([0, *ends], dtype=np.intp)


_LINE_END = re.compile(r"\r\n?|\n")


def _starts(lengths: Iterable[int]) -> NDArray[np.intp]:
    return np.fromiter(accumulate((length + 1 for length in lengths), initial=0), dtype=np.intp)[:-1]
