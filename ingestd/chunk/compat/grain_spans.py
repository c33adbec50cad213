"""Where in the Markdown the chunks of grain-growth lie.

The published package says no offsets, and rewrites white space, so chunks are laid beside their blocks by the visible
characters, which it neither drops nor moves. Where they do not agree, the span is that of the whole blocks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestd.chunk.compat.grain_growth.fences import fence
from ingestd.chunk.compat.grain_growth.growth import Grain
from ingestd.model.document import Block

_WORD = re.compile(r"\S+")
_TABLE_BAR = re.compile(r"^~{3,}table\b.*\n", re.MULTILINE)
_FORMULA = "formula"
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lying:
    """One block as the package was given it."""

    kind: str
    text: str
    block: Block | None
    """Where it stands; ``None`` where it has no text to show."""
    is_said: bool
    """Its text goes into bodies, as that of headings and skipped blocks does not."""


def spans(markdown: str, grains: Sequence[Grain], lying: Sequence[Lying]) -> Iterator[Span]:
    """Half-open span of each chunk, in characters of the Markdown.

    A caption that is said again before the later parts of its table counts with the first part alone.
    """
    cursors = [_Cursor(one, markdown) for one in lying]
    reached = 0
    for grain in grains:
        used = [place for place in range(grain.start, grain.stop) if lying[place].is_said]
        shown = [place for place in used if lying[place].block is not None]
        if not shown:
            yield reached, reached
            continue
        exact = _exact(cursors, grain, used)
        start, end = exact if exact is not None else _whole(lying, shown)
        reached = max(reached, end)
        yield start, end


class _Cursor:
    """How far a block's text has gone into chunks."""

    __slots__ = ("block", "kind", "offset", "origin", "text")

    def __init__(self, lying: Lying, markdown: str) -> None:
        self.kind = lying.kind
        self.block = lying.block
        self.text = fence(_FORMULA, lying.text) if lying.kind == _FORMULA else lying.text
        self.offset = 0
        self.origin: int | None = None
        """Where the text begins in the Markdown, if it stands there as it is."""
        core = self.text.strip()
        if self.block is not None and core and self.kind != _FORMULA:
            found = markdown.find(core, self.block.start, self.block.end)
            self.origin = None if found < 0 else found - (len(self.text) - len(self.text.lstrip()))

    def before(self, count: int) -> int:
        """Offset so many visible characters before the cursor."""
        offset = self.offset
        while count > 0 and offset > 0:
            offset -= 1
            count -= not self.text[offset].isspace()
        return offset

    def advance(self, count: int) -> str:
        """Move over at most so many visible characters, and give them."""
        passed: list[str] = []
        # As many characters as are missing hold at most as many visible ones: it never goes too far, and soon ends.
        while count > 0 and self.offset < len(self.text):
            passed.append(visible(self.text[self.offset : self.offset + count]))
            self.offset = min(self.offset + count, len(self.text))
            count -= len(passed[-1])
        return "".join(passed)

    def span(self, low: int) -> Span | None:
        """Span in the Markdown from the offset ``low`` up to the cursor; ``None`` where the block is not shown."""
        if self.block is None:
            return None
        start, end = self.block.start, self.block.end
        if self.origin is not None:
            first = _WORD.search(self.text, low)
            if first and _WORD.search(self.text, 0, low):
                start = self.origin + first.start()
            if _WORD.search(self.text, self.offset):
                end = self.origin + self.offset
        return start, end


def _exact(cursors: Sequence[_Cursor], grain: Grain, used: Sequence[int]) -> Span | None:
    """Span by visible characters; ``None`` where they are not those of the blocks."""
    if "table" in grain.types.split(","):
        new = _without_bars(grain.body[grain.repeated :])
        # A caption goes before its table, wherever it stands.
        turns = sorted((cursors[place] for place in used), key=lambda cursor: cursor.kind)
        again = 0
    else:
        new = grain.body[grain.repeated :]
        turns = [cursors[place] for place in used]
        again = len(visible(grain.body[: grain.repeated]))
    left = visible(new)
    found: list[Span] = []
    for number, cursor in enumerate(turns):
        low = cursor.before(again) if number == 0 else cursor.offset
        passed = cursor.advance(len(left))
        if not left.startswith(passed):
            return None
        left = left[len(passed) :]
        place = cursor.span(low) if passed else None
        if place is not None:
            found.append(place)
    if left or not found:
        return None
    return min(start for start, _ in found), max(end for _, end in found)


def visible(text: str) -> str:
    """The text without white space; a NUL is the full stop that the package makes of it."""
    return "".join(text.split()).replace("\0", ".")


def _without_bars(body: str) -> str:
    bar = _TABLE_BAR.search(body)
    return body if bar is None else body[: bar.start()] + body[bar.end() : body.rfind("\n")]


def _whole(lying: Sequence[Lying], shown: Sequence[int]) -> Span:
    blocks = [block for place in shown if (block := lying[place].block) is not None]
    return min(block.start for block in blocks), max(block.end for block in blocks)
