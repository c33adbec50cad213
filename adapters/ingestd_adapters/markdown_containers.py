"""How far a Markdown list or block quote reaches, by the rules of CommonMark.

Containers are matched with a stack that is never deeper than a line is long, so that the cost is one pass over the
text whatever the nesting.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from ingestd_adapters.markdown_lines import (
    INDENTED,
    Lines,
    Marker,
    begins_block,
    closes_fence,
    fence,
    first_column,
    heading_level,
    html_end,
    interrupts,
    list_marker,
    plain_start,
    thematic_break,
    underline_level,
)

_QUOTE = -1
"""Stands in the stack for a block quote; a list item stands there as the columns that its content is indented by."""


@dataclass(slots=True)
class _Open:
    """What is open at the end of the lines read so far."""

    kind: str
    """``>`` for a quote, else the kind of the outermost list's markers."""
    containers: list[int] = field(default_factory=list)
    quotes: list[int] = field(default_factory=list)
    """Where block quotes stand in ``containers``: a blank line must find them without going through all."""
    paragraph: bool = False
    fence: str = ""
    html: re.Pattern[str] | str | None = None
    bare_item: bool = False
    """The innermost item has no content yet: a blank line ends it."""

    def push(self, container: int) -> None:
        """Open a container inside the innermost one."""
        if container == _QUOTE:
            self.quotes.append(len(self.containers))
        self.containers.append(container)

    def truncate(self, count: int) -> None:
        """Close all containers but the first ``count``."""
        del self.containers[count:]
        while self.quotes and self.quotes[-1] >= count:
            self.quotes.pop()

    def blank_match(self, count: int) -> int:
        """Containers that a line without text continues, given that it continues the first ``count``."""
        following = bisect_left(self.quotes, count)
        return self.quotes[following] if following < len(self.quotes) else len(self.containers)

    def close_leaf(self) -> None:
        """Close what stands in the innermost container."""
        self.paragraph, self.fence, self.html = False, "", None


def container_end(lines: Lines, first: int) -> int:
    """Index one past the last line of the list or block quote that begins at line ``first``; blank lines excluded."""
    line = lines.expanded(first)
    at = first_column(line)
    marker = list_marker(line, at)
    state = _Open(kind=">" if marker is None else marker.kind)
    _open_rest(state, line, 0, broken=False)
    last = first
    for index in range(first + 1, len(lines)):
        line = lines.expanded(index)
        if not line or (line.isspace() and not line.strip(" ")):
            if not _take_blank(state):
                break
            continue
        if not _take(state, line):
            break
        last = index
    return last + 1


def _take_blank(state: _Open) -> bool:
    """Account for a blank line; false when it ends the outermost container."""
    if state.containers[0] == _QUOTE:
        return False
    if state.quotes:
        state.truncate(state.quotes[0])
        state.close_leaf()
    if state.bare_item:
        state.bare_item = False
        state.truncate(len(state.containers) - 1)
        if not state.containers:
            # The outermost item is closed, its list is not: only another item can follow.
            state.push(1 << 30)
    state.paragraph = False
    if state.html == "":
        state.html = None
    return True


def _take(state: _Open, line: str) -> bool:
    """Account for a line with text; false when it is no part of the outermost container."""
    matched, position, at = _match(state, line)
    whole = matched == len(state.containers)
    if whole and (state.fence or state.html is not None):
        _continue_leaf(state, line, position, at)
        return True
    if matched == 0 and state.kind == ">":
        return _lazy(state, line, position, at)
    if matched == 0:
        return _sibling(state, line, at) or _lazy(state, line, position, at)
    if not whole and _lazy(state, line, position, at):
        return True
    if not whole:
        state.truncate(matched)
        state.close_leaf()
    _open_rest(state, line, position, broken=state.paragraph)
    return True


def _match(state: _Open, line: str) -> tuple[int, int, int]:
    """Containers that the line continues, the position after their marks, and that of the first text after it."""
    position, at = 0, first_column(line)
    for count, width in enumerate(state.containers):
        if width == _QUOTE:
            if at - position >= INDENTED or line[at : at + 1] != ">":
                return count, position, at
            position = at + 1
            position += line[position : position + 1] == " "
            at = first_column(line, position)
        elif at - position >= width:
            position += width
        else:
            return count, position, at
        if at >= len(line):
            # Only marks are left in the line: a blank line inside the containers matched so far.
            return state.blank_match(count + 1), position, at
    return len(state.containers), position, at


def _continue_leaf(state: _Open, line: str, position: int, at: int) -> None:
    if state.fence:
        if at - position < INDENTED and closes_fence(line, state.fence, at):
            state.fence = ""
    elif (isinstance(state.html, re.Pattern) and state.html.search(line, position)) or (
        state.html == "" and at >= len(line)
    ):
        state.html = None


def _sibling(state: _Open, line: str, at: int) -> bool:
    """Open the next item of the outermost list, when the line begins one."""
    marker = list_marker(line, at) if at < INDENTED else None
    if marker is None or marker.kind != state.kind or thematic_break(line, at):
        return False
    state.truncate(0)
    state.close_leaf()
    _open_rest(state, line, 0, broken=False)
    return True


def _lazy(state: _Open, line: str, position: int, at: int) -> bool:
    """Whether the line continues the open paragraph without the marks of its containers."""
    if not state.paragraph or at >= len(line):
        return False
    if at - position >= INDENTED:
        return True
    return not begins_block(line, at)


def _open_rest(state: _Open, line: str, position: int, *, broken: bool) -> None:
    """Open the containers and the leaf that begin in the rest of a line whose containers matched.

    ``broken`` says that a paragraph is open there, which not every block may interrupt.
    """
    at = first_column(line, position)
    state.bare_item = False
    rule_from: dict[str, int] = {}
    while at < len(line) and at - position < INDENTED:
        if plain_start(line, at):
            break
        if line[at] == ">":
            state.push(_QUOTE)
            position = at + 1
            position += line[position : position + 1] == " "
        else:
            # A rule is told by where its line's other characters end: asking at each marker anew would be quadratic.
            marker = list_marker(line, at)
            if marker is not None and marker.kind in "-*":
                if marker.kind not in rule_from:
                    rule_from[marker.kind] = len(line.rstrip(marker.kind + " "))
                if rule_from[marker.kind] <= at and line.count(marker.kind, at) >= 3:
                    marker = None
            if marker is None or (broken and not interrupts(marker, line, at)):
                break
            position = _open_item(state, line, position, at, marker)
        broken = False
        state.close_leaf()
        at = first_column(line, position)
    _open_leaf(state, line, position, at, broken=broken)


def _open_item(state: _Open, line: str, position: int, at: int, marker: Marker) -> int:
    """Push the item, and give the position of its content."""
    after = at + marker.width
    content = first_column(line, after)
    state.bare_item = content >= len(line)
    if state.bare_item or content - after > INDENTED:
        content = after + 1
    state.push(content - position)
    return min(content, len(line))


def _open_leaf(state: _Open, line: str, position: int, at: int, *, broken: bool) -> None:
    if at >= len(line):
        state.close_leaf()
        return
    if at - position >= INDENTED:
        state.paragraph = broken
        return
    if plain_start(line, at):
        state.fence, state.html, state.paragraph = "", None, True
        return
    if broken and underline_level(line, at):
        state.close_leaf()
        return
    state.fence = fence(line, at)
    state.html = None if state.fence else html_end(line, at, interrupting=broken)
    if isinstance(state.html, re.Pattern) and state.html.search(line, at + 1):
        state.html = None
        state.paragraph = False
        return
    leaf = state.fence or state.html is not None or heading_level(line, at) or thematic_break(line, at)
    state.paragraph = not leaf
