"""Finer and finer pieces of a block: rows, items or lines, then sentences, then words, then graphemes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from ingestd.chunk.atoms import (
    BETWEEN_CLAUSES,
    BETWEEN_LINES,
    BETWEEN_PARAGRAPHS,
    BETWEEN_ROWS,
    BETWEEN_SENTENCES,
)
from ingestd.chunk.graphemes import is_boundary
from ingestd.chunk.windows import trimmed, windows
from ingestd.chunk.wraps import Wrap, wrap
from ingestd.model.document import Block, BlockType
from ingestd.ports.segmenter import Segmenter

ENDINGS = frozenset(".!?\u3002\uff01\uff1f\u2026")
CLOSERS = "\"')]}*_\u201d\u2019\u00bb\u300d"
"""What may follow the end of a sentence."""
Spans = list[tuple[int, int]]
Level = str
"""``rows``, ``items``, ``paragraphs``, ``ragged``, ``sentences``, ``lines``, ``stops`` or ``clauses``; below the last come words."""

_ITEM = re.compile(
    r"^[ \t>]*(?:[-*+\u2022\u2023\u25e6\u25aa\u2013]|\(?(?:\d{1,9}|[A-Za-z])[.)])(?=[ \t\r\n])", re.MULTILINE
)
# Each begins with one class of characters, by which the engine skips what cannot match.
_STOP = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f]"
    r"(?:(?<=[\u3002\uff01\uff1f])[\u300d\u300f\uff09\u201d]{0,3}|(?<=[.!?\u2026])[\"'\u201d\u2019\u00bb)\]}]{0,3}(?=\s))"
)
"""Ends of sentences that a segmenter does not see, inside quotation marks or brackets."""
_PAUSE = re.compile(
    r"[,;:\uff0c\uff1b\uff1a\u2013\u2014]"
    r"(?:(?<=[\uff0c\uff1b\uff1a])|(?<=\s[\u2013\u2014])(?=\s)|(?<=[,;:])[\"'\u201d\u2019)\]}]{0,3}(?=\s))"
)
WRAPPED = 200
"""Characters of a line: nobody wraps prose so late, so the lines of a paragraph with a longer one are paragraphs."""
RAGGED = 0.6
"""Part of the longest line's length below which a line is short; where more than a quarter are, nobody wrapped them."""
_PROSE: tuple[Level, ...] = ("paragraphs", "ragged", "sentences", "lines", "stops", "clauses")
_LEVELS: dict[BlockType, tuple[Level, ...]] = {
    BlockType.TABLE: ("rows", "sentences"),
    BlockType.CODE: ("rows",),
    BlockType.FORMULA: ("rows",),
    BlockType.LIST: ("items", *_PROSE[2:]),
}
COSTS: dict[Level, float] = {
    "rows": BETWEEN_ROWS,
    "items": BETWEEN_ROWS,
    "paragraphs": BETWEEN_PARAGRAPHS,
    "ragged": BETWEEN_ROWS,
    "sentences": BETWEEN_SENTENCES,
    "lines": BETWEEN_LINES,
    "stops": BETWEEN_LINES,
    "clauses": BETWEEN_CLAUSES,
}


def levels_of(kind: BlockType) -> tuple[Level, ...]:
    """Levels at which a block of the kind is split, coarsest first."""
    return _LEVELS.get(kind, _PROSE)


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
        case "paragraphs" | "ragged":
            return _unwrapped(level, _lines(markdown, start, end), markdown)
        case "sentences":
            return _sentences(markdown, start, end, segmenter)
        case "stops" | "clauses":
            return _pieces(markdown, start, end, _STOP if level == "stops" else _PAUSE)
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
    low, high = _inside(markdown, start, end, around)
    spans = windows(markdown, low, high, 2)
    if len(spans) > 1:
        # Neither part is a fence or a header alone.
        return [(start, spans[0][1]), (spans[1][0], end)]
    return windows(markdown, start, end, 2)


def _inside(markdown: str, start: int, end: int, wrap: Wrap) -> tuple[int, int]:
    """The span without the lines that only lead to what is between them, or close it; empty where there is nothing."""
    lines = _lines(markdown, start, end)
    inner = lines[wrap.leading : len(lines) - wrap.trailing]
    return (inner[0][0], inner[-1][1]) if inner else (start, start)


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
            if spans and not _parts(markdown, first, spans[-1][0]):
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


def _unwrapped(level: Level, lines: Spans, markdown: str) -> Spans:
    """The lines, or all of them in one where the level finds that a longer line was wrapped to give them."""
    longest = max((end - start for start, end in lines), default=0)
    if level == "paragraphs" and longest > WRAPPED:
        return _led(markdown, lines)
    if level == "ragged" and sum(end - start < RAGGED * longest for start, end in lines[:-1]) * 4 > len(lines):
        return lines
    return [(lines[0][0], lines[-1][1])] if lines else []


def _led(markdown: str, lines: Spans) -> Spans:
    """Lines, each short one without a stop joined to the one that it leads to."""
    joined: Spans = []
    for start, end in lines:
        if joined and joined[-1][1] - joined[-1][0] <= WRAPPED and not _ends(markdown, *joined[-1]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _ends(markdown: str, start: int, end: int) -> bool:
    return markdown[max(start, end - 4) : end].rstrip(CLOSERS)[-1:] in ENDINGS


def _pieces(markdown: str, start: int, end: int, mark: re.Pattern[str]) -> Spans:
    ends = [found.end() for found in mark.finditer(markdown, start, end)]
    places = [at for at in ends if start < at < end and _parts(markdown, at, start)]
    return _cores(markdown, pairwise([start, *places, end]))


def _parts(markdown: str, at: int, start: int) -> bool:
    """Whether a cut there leaves every character whole: what follows a stop may extend it."""
    return markdown[at] < "\u0300" or is_boundary(markdown, at, start)


def _cores(markdown: str, spans: Iterable[tuple[int, int]]) -> Spans:
    found = (trimmed(markdown, start, end) for start, end in spans)
    return [core for core in found if core is not None]
