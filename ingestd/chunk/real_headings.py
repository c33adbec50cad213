"""Headings above each of a document's consecutive texts, from its real headings alone."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from ingestd.chunk.markdown_text import document_of_markdown
from ingestd.model.document import BlockType

_MARKS = 6
_BLANK = re.compile(r"\s*")
Path = tuple[str, ...]
_Heading = tuple[int, int, int, str]
"""First character, one past the last, level, line with its marks."""


def real_heading_paths(texts: Sequence[str]) -> list[Path]:
    """For each text its ancestors and its own heading, outermost first.

    A text's own heading is the one that it begins with, or the last of several there with nothing between them. What
    begins with ``#`` in code, HTML or front matter is none; underlined and indented ones are.

    Parameters
    ----------
    texts
        Joined they are the document.
    """
    document = "".join(texts)
    headings = list(_headings(document))
    places = list(pairwise(accumulate(map(len, texts), initial=0)))
    found: list[Path] = []
    stack: list[tuple[int, str]] = []
    done = 0
    for start, end in places:
        own = start
        while done < len(headings) and headings[done][0] < end:
            first, last, level, line = headings[done]
            blank = _BLANK.match(document, own)
            if first > (blank.end() if blank else own):
                break
            _put(stack, level, line)
            own, done = last, done + 1
        found.append(tuple(line for _, line in stack))
        while done < len(headings) and headings[done][0] < end:
            _put(stack, headings[done][2], headings[done][3])
            done += 1
    return found


def leading_lines(text: str, path: Path) -> int:
    """How many of the path's last headings the text itself begins with."""
    said = 0
    at = 0
    for first, last, _, line in _headings(text):
        blank = _BLANK.match(text, at)
        if first > (blank.end() if blank else at) or line not in path:
            break
        said, at = said + 1, last
    return said


def _headings(markdown: str) -> Iterator[_Heading]:
    for block in document_of_markdown(markdown).blocks:
        if block.type in {BlockType.TITLE, BlockType.SECTION}:
            level = max(1, block.level or 1)
            yield block.start, block.end, level, f"{'#' * min(level, _MARKS)} {' '.join(block.text.split())}"


def _put(stack: list[tuple[int, str]], level: int, line: str) -> None:
    while stack and stack[-1][0] >= level:
        stack.pop()
    stack.append((level, line))
