"""How far the leaf blocks of Markdown reach, blank lines at their ends excluded.

Each function takes the index of a block's first line and gives the index one past its last.
"""

import re

from ingestd_adapters.markdown_lines import INDENTED, Lines, begins_block, breaks_paragraph, closes_fence, first_column


def fence_end(lines: Lines, index: int, opened: str) -> int:
    """Index of the line that closes the fence; the number of lines when none does."""
    after = index + 1
    while after < len(lines):
        line = lines.expanded(after)
        at = first_column(line)
        if at < INDENTED and line[at : at + 1] == opened[0] and closes_fence(line, opened, at):
            break
        after += 1
    return after


def indented_end(lines: Lines, index: int) -> int:
    """End of indented code."""
    after = last = index + 1
    while after < len(lines):
        line = lines.expanded(after)
        at = first_column(line)
        if at < len(line):
            if at < INDENTED:
                break
            last = after + 1
        after += 1
    return last


def html_block_end(lines: Lines, index: int, at: int, ending: re.Pattern[str] | str) -> int:
    """End of a block of HTML that begins at column ``at`` and ends as :func:`~markdown_lines.html_end` says."""
    after = index
    while after < len(lines):
        if isinstance(ending, str):
            if lines.blank(after):
                break
        elif ending.search(lines.raw(after), at + 2 if after == index else 0):
            after += 1
            break
        after += 1
    while lines.blank(after - 1):
        after -= 1
    return after


def footnote_end(lines: Lines, index: int) -> int:
    """End of a footnote: its paragraph, and what is indented below it."""
    after = last = index + 1
    while after < len(lines):
        line = lines.expanded(after)
        at = first_column(line)
        if at < len(line):
            if at < INDENTED and (last != after or breaks_paragraph(line, at)):
                break
            last = after + 1
        after += 1
    return last


def table_end(lines: Lines, index: int) -> int:
    """End of a table, its header and delimiter rows included."""
    after = index + 2
    while after < len(lines):
        line = lines.expanded(after)
        at = first_column(line)
        if at >= min(len(line), INDENTED) or begins_block(line, at):
            break
        after += 1
    return after
