"""markdown-it's CommonMark block rules, driven faster than it drives them itself.

The rules for containers, code, HTML, definitions and ATX headings are markdown-it's own. Three things around them are ours:
the table of lines is made in one pass, a line is offered only to the rules that its first character can start, and
paragraphs with setext headings are scanned once. No inline text is parsed, and nothing is kept but what a block opens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    code,
    fence,
    heading,
    hr,
    html_block,
    list_block,
    reference,
)

from ingestd.chunk.compat.structure_first.block_state import LeanState, Opening

Rule = Callable[[StateBlock, int, int, bool], bool]

_BY_FIRST: dict[str, tuple[Rule, ...]] = {
    "`": (fence,),
    "~": (fence,),
    ">": (blockquote,),
    "*": (hr, list_block),
    "-": (hr, list_block),
    "+": (list_block,),
    "_": (hr,),
    "[": (reference,),
    "<": (html_block,),
    "#": (heading,),
    **dict.fromkeys("0123456789", (list_block,)),
}
"""Rules that a line with this first character can start, in markdown-it's order; a paragraph is always possible."""

_INTERRUPTING: dict[str, tuple[str, ...]] = {
    "paragraph": ("fence", "blockquote", "hr", "list_block", "html_block", "heading"),
    "reference": ("fence", "blockquote", "hr", "list_block", "html_block", "heading"),
    "blockquote": ("fence", "blockquote", "hr", "list_block", "html_block", "heading"),
    "list": ("fence", "blockquote", "hr"),
}
"""Rules that end each of these without an empty line before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopBlock:
    """A block that no other contains."""

    rule: str
    """Name of the rule that made it: ``prose`` for paragraphs and setext headings."""
    first: int
    """Its first line."""
    openings: list[Opening]
    """What it and the blocks in it opened, in order."""


def top_blocks(text: str) -> Iterator[TopBlock]:
    """Blocks of a text in order, as they are found; line numbers count what markdown-it takes for line ends."""
    if not text:
        return
    state = LeanState(_normalized(text), _markdown())
    while True:
        line = state.line = state.skipEmptyLines(state.line)
        if line >= state.lineMax:
            return
        name = _apply(state, line, state.lineMax)
        openings, state.openings = state.openings, []
        yield TopBlock(rule=name, first=line, openings=openings)


def _normalized(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "\ufffd") if "\0" in text else text


class _Blocks:
    """Stands where markdown-it's rules look for its block parser."""

    def __init__(self) -> None:
        self.ruler = _Ruler()

    def tokenize(self, state: LeanState, start: int, end: int) -> None:
        """Blocks of the lines of one container."""
        line = start
        empty_lines = False
        while line < end:
            state.line = line = state.skipEmptyLines(line)
            if line >= end or state.sCount[line] < state.blkIndent:
                break
            if state.level >= state.md.options.maxNesting:
                state.line = end
                break
            _apply(state, line, end)
            state.tight = not empty_lines
            line = state.line
            if line - 1 < end and state.isEmpty(line - 1):
                empty_lines = True
            if line < end and state.isEmpty(line):
                empty_lines = True
                line += 1
                state.line = line


class _Ruler:
    """Gives the rules that may interrupt a block, put together as one."""

    def __init__(self) -> None:
        self._chains = {chain: [_interruption(names)] for chain, names in _INTERRUPTING.items()}

    def getRules(self, chain: str) -> list[Rule]:  # noqa: N802  # markdown-it's
        """One rule that stands for the chain."""
        return self._chains[chain]

    def get_active_rules(self) -> list[str]:
        """The rules whose presence other rules ask for."""
        return ["code"]


def _interruption(names: tuple[str, ...]) -> Rule:
    wanted = {first: tuple(rule for rule in rules if _name(rule) in names) for first, rules in _BY_FIRST.items()}
    by_first = {first: rules for first, rules in wanted.items() if rules}

    def interrupts(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's
        place = state.bMarks[line] + state.tShift[line]
        rules = by_first.get(state.src[place : place + 1])
        return rules is not None and any(rule(state, line, end, silent) for rule in rules)

    return interrupts


def _name(rule: Rule) -> str:
    return "fence" if rule is fence else rule.__name__


def _apply(state: LeanState, line: int, end: int) -> str:
    """Let the first rule that can take the block that begins on a line; gives the rule's name."""
    if state.sCount[line] - state.blkIndent >= 4:
        code(state, line, end, False)  # noqa: FBT003  # markdown-it's
        return "code"
    place = state.bMarks[line] + state.tShift[line]
    for rule in _BY_FIRST.get(state.src[place], ()):
        if rule(state, line, end, False):  # noqa: FBT003  # markdown-it's
            return _name(rule)
    _prose(state, line, end)
    return "prose"


def _prose(state: LeanState, start: int, end: int) -> None:
    """A paragraph, or the setext heading that it turns out to be."""
    source, begins, shifts, columns = state.src, state.bMarks, state.tShift, state.sCount
    ends, indent = state.eMarks, state.blkIndent
    outer, state.parentType = state.parentType, "paragraph"
    interrupts = state.md.block.ruler.getRules("paragraph")[0]
    line, last = start + 1, state.lineMax
    kind = "paragraph_open"
    while line < last:
        place = begins[line] + shifts[line]
        if place >= ends[line]:
            break
        column = columns[line]
        if column - indent <= 3:
            first = source[place]
            if column >= indent and line < end and first in "-=" and _underlines(source[place : ends[line]]):
                kind = "heading_open"
                line += 1
                break
            if column >= 0 and first in _BY_FIRST and interrupts(state, line, last, True):  # noqa: FBT003  # markdown-it's
                break
        line += 1
    state.parentType = outer
    state.line = line
    state.openings.append(Opening(kind, [start, line]))


def _underlines(rest: str) -> bool:
    return not rest.strip(" \t").strip(rest[0])


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    blocks: Any = _Blocks()
    markdown.block = blocks
    return markdown
