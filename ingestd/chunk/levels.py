"""Finer and finer pieces of a block: rows, items or lines, then sentences, then words, then graphemes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from ingestd.chunk.atoms import BETWEEN_LINES, BETWEEN_ROWS, BETWEEN_SENTENCES
from ingestd.chunk.graphemes import is_boundary
from ingestd.chunk.windows import trimmed, windows
from ingestd.chunk.wraps import Wrap, wrap
from ingestd.model.document import Block, BlockType
from ingestd.ports.segmenter import Segmenter

Spans = list[tuple[int, int]]
Level = str
"""``rows``, ``items``, ``lines`` or ``sentences``; below the last come words."""

_ITEM = re.compile(
    r"^[ \t>]*(?:[-*+\u2022\u2023\u25e6\u25aa\u2013]|\(?(?:\d{1,9}|[A-Za-z])[.)])(?=[ \t\r\n])", re.MULTILINE
)
_LEVELS: dict[BlockType, tuple[Level, ...]] = {
    BlockType.TABLE: ("rows", "sentences"),
    BlockType.CODE: ("rows",),
    BlockType.FORMULA: ("rows",),
    BlockType.LIST: ("items", "sentences", "lines"),
}
COSTS: dict[Level, float] = {
    "rows": BETWEEN_ROWS,
    "items": BETWEEN_ROWS,
    "sentences": BETWEEN_SENTENCES,
    "lines": BETWEEN_LINES,
}


def levels_of(kind: BlockType) -> tuple[Level, ...]:
    """Levels at which a block of the kind is split, coarsest first."""
    return _LEVELS.get(kind, ("sentences", "lines"))


def spans_of(level: Level, markdown: str, span: tuple[int, int], wrap: Wrap, segmenter: Segmenter) -> Spans:
    """Pieces of the Markdown's span at the level, without what is blank between them.

    Raises
    ------
    ValueError
        When the segmenter does not give back the text it was given.
    """
    start, end = span
    match level:
        case "rows":
            return _rows(markdown, start, end, wrap)
        case "items":
            return _items(markdown, start, end)
        case "sentences":
            return _sentences(markdown, start, end, segmenter)
        case _:
            return _lines(markdown, start, end)


def halves(markdown: str, block: Block, span: tuple[int, int], segmenter: Segmenter) -> Spans:
    """Two spans of a part of the block, cut nearest to the middle at its coarsest level; one of a single character."""
    start, end = span
    found = wrap(markdown, block)
    around = replace(
        found, leading=found.leading if start == block.start else 0, trailing=found.trailing if end == block.end else 0
    )
    for level in levels_of(block.type):
        spans = spans_of(level, markdown, span, around, segmenter)
        if len(spans) > 1:
            middle = (start + end) // 2
            cut = min(range(1, len(spans)), key=lambda number: abs(spans[number][0] - middle))
            return [(spans[0][0], spans[cut - 1][1]), (spans[cut][0], spans[-1][1])]
    return windows(markdown, start, end, 2)


def _rows(markdown: str, start: int, end: int, wrap: Wrap) -> Spans:
    """Lines with their indentation; header rows and fences stay with the line beside them."""
    lines: Spans = []
    position = start
    for line in markdown[start:end].replace("\r", "\n").split("\n"):
        row = line.rstrip()
        if row:
            lines.append((position, position + len(row)))
        position += len(line) + 1
    head, tail = wrap.leading, wrap.trailing
    if len(lines) <= head + tail:
        return lines
    if head:
        lines[: head + 1] = [(lines[0][0], lines[head][1])]
    if tail and len(lines) > 1:
        lines[-2:] = [(lines[-2][0], lines[-1][1])]
    return lines


def _items(markdown: str, start: int, end: int) -> Spans:
    # "^" matches at the start of the search only when a line begins there; an item cut out of a list begins mid-line.
    starts = [start, *(item.start() for item in _ITEM.finditer(markdown, start, end) if item.start() > start), end]
    return _cores(markdown, pairwise(starts))


def _sentences(markdown: str, start: int, end: int, segmenter: Segmenter) -> Spans:
    spans: Spans = []
    position = start
    for sentence in segmenter.split(markdown[start:end]):
        after = position + len(sentence)
        first = position if sentence[:1].strip() else after - len(sentence.lstrip())
        last = position + len(sentence.rstrip())
        if first < last:
            if markdown[first] >= "\u0300" and spans and not is_boundary(markdown, first, spans[-1][0]):
                # What extends the last character of the sentence before belongs to that.
                first = spans.pop()[0]
            spans.append((first, last))
        position = after
    if position != end:
        raise ValueError(f"the segmenter {segmenter.name} gave {position - start} characters back of {end - start}")
    return spans


def _lines(markdown: str, start: int, end: int) -> Spans:
    lines: Spans = []
    position = start
    for line in markdown[start:end].replace("\r", "\n").split("\n"):
        words = line.lstrip()
        if words:
            first = position + len(line) - len(words)
            lines.append((first, first + len(words.rstrip())))
        position += len(line) + 1
    return lines


def _cores(markdown: str, spans: Iterable[tuple[int, int]]) -> Spans:
    found = (trimmed(markdown, start, end) for start, end in spans)
    return [core for core in found if core is not None]
