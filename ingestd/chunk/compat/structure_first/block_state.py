"""The state that markdown-it's block rules work on, made fast and kept small."""

from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token


class _Unheard:
    """An attribute that rules may set, and that keeps nothing."""

    def __get__(self, instance: object, owner: type | None = None) -> str:
        return ""

    def __set__(self, instance: object, value: object) -> None:
        return None


class Opening:
    """What one block opened: stands where markdown-it puts a token.

    Parameters
    ----------
    kind
        Type of the token.
    map
        First line, and the line after the last one.
    """

    __slots__ = ("kind", "map")
    attrs = children = content = hidden = info = level = markup = meta = type = _Unheard()

    def __init__(self, kind: str, lines: list[int]) -> None:
        self.kind = kind
        self.map = lines


class LeanState(StateBlock):
    """A state whose lines were found in one pass, and which keeps openings alone."""

    level: int

    def __init__(self, src: str, markdown: MarkdownIt) -> None:
        super().__init__("", markdown, {}, [])
        self.src = src
        self.openings: list[Opening] = []
        self._sink = Opening("", [])
        lines = src.split("\n")
        if not lines[-1].strip(" \t"):
            lines.pop()
        self.bMarks, self.eMarks, self.tShift, self.sCount = [], [], [], []
        start = 0
        for line in lines:
            self.bMarks.append(start)
            shift = width = 0
            if line[:1] in _SPACES:
                shift, width = _indent(line)
            self.tShift.append(shift)
            self.sCount.append(width)
            start += len(line)
            self.eMarks.append(start)
            start += 1
        self.bsCount = [0] * (len(lines) + 1)
        self.lineMax = len(lines)
        self.bMarks.append(len(src))
        self.eMarks.append(len(src))
        self.tShift.append(0)
        self.sCount.append(0)

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:  # noqa: ARG002  # markdown-it's
        """Keep an opening; whatever is said of any other token is thrown away."""
        self.level += nesting
        if nesting <= 0:
            return self._sink  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # rules only set attributes
        opening = Opening(ttype, [])
        self.openings.append(opening)
        return opening  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # rules only set attributes

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:  # noqa: ARG002, FBT001, N802, N803  # markdown-it's
        """No text: rules ask for it only to store it."""
        return ""


_SPACES = (" ", "\t")


def _indent(line: str) -> tuple[int, int]:
    """Characters of white space at the start of a line, and the columns they take."""
    shift = len(line) - len(line.lstrip(" \t"))
    if "\t" not in line[:shift]:
        return shift, shift
    width = 0
    for character in line[:shift]:
        width += 4 - width % 4 if character == "\t" else 1
    return shift, width
