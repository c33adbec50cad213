"""Paragraphs and headings from the rows of a column."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ingestd_adapters.ocr_columns import Row, is_standing, stretches
from ingestd_adapters.ocr_engine import Line, Point
from ingestd_adapters.ocr_tables import Cells, parted

_LEADING = 1.4
"""Rows further apart than so many times the usual distance belong to two paragraphs."""
_OTHER_SIZE = 1.25
_SHORT = 0.8
"""A sentence that ends before this share of the column's width ends its paragraph."""
_INDENT = 1.2
"""First lines stand in by at least so many heights."""
_ENDS = re.compile(r"[.!?:;\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")
_BULLET = re.compile(r"[\u2022\u00b7\u25aa\u25cf\u25cb\u25a0*\u2013-]\s*(?=\w)")
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+[^\W\d_]")
_TITLE = re.compile(r"(?:\d[\d.]*\s+)?[A-Z]\S*(?:\s+(?:[A-Z]\S*|\w{1,3}|&)){0,9}$")
"""Up to ten words, each with a capital but for the shortest."""
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HEADING = 1.3
"""Times the height of the body's rows; numbered lines need less."""
_NUMBERED_HEADING = 1.1
_OUTER_HEADING = 1.8
_LONGEST_HEADING = 200
_MOST_HEADING_ROWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Rows that belong together."""

    text: str
    height: float
    """Of its rows, in pixels: the size of its letters; 0 where it is not known."""
    rows: int
    bullet: bool
    titled: bool
    """One short row of words with capitals, right above a row that fills the column."""
    corners: tuple[Point, ...]
    """Of all its lines, where they were found."""
    cells: Cells = ()
    """Of a table, whose text is that of its cells, one after the other."""

    def level(self, body: float) -> int:
        """Level of the heading that it is beside a body of this height, in the same unit; 0 for none."""
        ratio = self.height / body if body else 1.0
        if self.cells or self.bullet or self.rows > _MOST_HEADING_ROWS or len(self.text) > _LONGEST_HEADING:
            return 0
        if not any(character.isalpha() for character in self.text):
            return 0
        if ratio >= _OUTER_HEADING:
            return 1
        numbered = self.rows == 1 and _NUMBERED.match(self.text) and not _ENDS.search(self.text)
        return 2 if self.titled or ratio >= (_NUMBERED_HEADING if numbered else _HEADING) else 0


def paragraphs(lines: Sequence[Line]) -> list[Paragraph]:
    """Paragraphs of a page in reading order; lines that run up or down the page come last."""
    lying = [line for line in lines if not is_standing(line)]
    parts = [part for stretch in stretches(lying) for part in parted(stretch)]
    found = [one for rows, cells in parts for one in ([_table(rows, cells)] if cells else _of_stretch(rows))]
    return [*found, *(_standing(line) for line in lines if is_standing(line))]


def _standing(line: Line) -> Paragraph:
    return Paragraph(text=line.text, height=0.0, rows=1, bullet=False, titled=False, corners=line.corners)


def _table(rows: Sequence[Row], cells: Cells) -> Paragraph:
    return replace(
        _paragraph(rows), bullet=False, text=" ".join(cell for row in cells for cell in row if cell), cells=cells
    )


def _of_stretch(stretch: Sequence[Row]) -> list[Paragraph]:
    column = min(one.left for row in stretch for one in row), max(one.right for row in stretch for one in row)
    usual = _usual_distance(stretch)
    parts: list[list[Row]] = [[stretch[0]]]
    titles: list[bool] = []
    for before, row in pairwise(stretch):
        title = len(parts[-1]) == 1 and _is_title(before, row, column)
        if title or _is_apart(before, row, usual, column):
            parts.append([row])
            titles.append(title)
        else:
            parts[-1].append(row)
    return [_paragraph(part, titled=title) for part, title in zip(parts, [*titles, False], strict=True)]


def _usual_distance(stretch: Sequence[Row]) -> float:
    """Median distance of rows that follow each other at once."""
    steps = [
        (after[0].middle - before[0].middle)
        for before, after in pairwise(stretch)
        if after[0].middle - before[0].middle < 3 * max(_height(before), _height(after))
    ]
    return median(steps) if steps else 1.5 * _height(stretch[0])


def _is_apart(before: Row, row: Row, usual: float, column: tuple[float, float]) -> bool:
    heights = _height(before), _height(row)
    if row[0].middle - before[0].middle > _LEADING * usual or max(heights) > _OTHER_SIZE * min(heights):
        return True
    if _BULLET.match(row[0].line.text) or _NUMBERED.match(row[0].line.text):
        return True
    ended = bool(_ENDS.search(before[-1].line.text))
    short = before[-1].right - column[0] < _SHORT * (column[1] - column[0])
    indented = row[0].left - before[0].left > _INDENT * min(heights)
    return ended and (short or indented)


def _is_title(row: Row, below: Row, column: tuple[float, float]) -> bool:
    """Whether a row of its own heads the row below, though its letters are no larger."""
    width = column[1] - column[0]
    short = row[-1].right - column[0] < _SHORT * width
    filled = below[-1].right - below[0].left >= _SHORT * width
    text = " ".join(one.line.text for one in row)
    return short and filled and bool(_TITLE.match(text)) and below[0].line.text[:1].isupper()


def _height(row: Row) -> float:
    return median(one.height for one in row)


def _paragraph(rows: Sequence[Row], *, titled: bool = False) -> Paragraph:
    text = _joined(" ".join(one.line.text for one in row) for row in rows)
    bullet = _BULLET.match(text)
    return Paragraph(
        text=text[bullet.end() :] if bullet else text,
        height=median(_height(row) for row in rows),
        rows=len(rows),
        bullet=bullet is not None,
        titled=titled,
        corners=tuple(corner for row in rows for one in row for corner in one.line.corners),
    )


def _joined(rows: Iterable[str]) -> str:
    """One text of rows: a hyphen that parts a word goes, letters that know no spaces get none."""
    text = ""
    for row in rows:
        if text.endswith("-") and text[-2:-1].isalpha() and row[:1].islower():
            text = text[:-1] + row
        elif text and _WIDE.match(text[-1]) and _WIDE.match(row[:1]):
            text += row
        else:
            text = f"{text} {row}" if text else row
    return text
