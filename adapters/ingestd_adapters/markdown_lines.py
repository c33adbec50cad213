"""What one line of Markdown can begin, by the rules of CommonMark.

Every function takes a line whose tabs are expanded and the position of its first character that is no space, and
costs at most one pass over the line. Possessive quantifiers keep the patterns from ever going back.
"""

import re
from dataclasses import dataclass

INDENTED = 4
"""Columns of indentation that make a line code."""
_NEWLINE = re.compile(r"\r\n|\n|\r")
_LF = re.compile(r"\n")
_SPACES = re.compile(r" *+")
_ATX = re.compile(r"#{1,6}+(?= |$)")
_SETEXT = re.compile(r"(?:=++|-++) *+$")
_ORDERED = re.compile(r"([0-9]{1,9}+)([.)])(?= |$)")
_DELIMITER_CELL = re.compile(r":?+-++:?+")
_PLAIN_START = re.compile(r"[^\s#`~>\-+*_<$\[\d|:=\\]")
_BAR = re.compile(r"(?<!\\)\|")
_RAW_TAG = re.compile(r"<(?:script|pre|style|textarea)(?=[ >]|$)", re.IGNORECASE)
_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?+(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div"
    r"|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|track|ul)(?= |/?>|$)",
    re.IGNORECASE,
)
_WHOLE_TAG = re.compile(
    r"(?:</[A-Za-z][A-Za-z0-9-]*+ *+>"
    r"|<[A-Za-z][A-Za-z0-9-]*+"
    r"(?> ++[A-Za-z_:][\w.:-]*+(?> *+= *+(?:[^ \"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+"
    r" *+/?+>) *+$",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Lines:
    """A text cut at its line ends, which stay in the text."""

    text: str
    starts: list[int]
    ends: list[int]
    """One past the last character of each line, its line end excluded."""

    @classmethod
    def of(cls, text: str) -> "Lines":
        """Lines of the text; LF, CR LF and CR end a line."""
        if "\r" not in text:
            ends = [found.start() for found in _LF.finditer(text)]
            starts = [0, *(end + 1 for end in ends)]
        else:
            breaks = [found.span() for found in _NEWLINE.finditer(text)]
            ends = [end for end, _ in breaks]
            starts = [0, *(start for _, start in breaks)]
        ends.append(len(text))
        return cls(text, starts, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, index: int) -> str:
        """The line as it stands."""
        return self.text[self.starts[index] : self.ends[index]]

    def expanded(self, index: int) -> str:
        """The line with its tabs expanded to stops of four columns."""
        line = self.raw(index)
        return line.expandtabs(4) if "\t" in line else line

    def blank(self, index: int) -> bool:
        """Whether nothing but spaces and tabs stands in the line."""
        return not self.raw(index).strip(" \t")


@dataclass(frozen=True, slots=True)
class Marker:
    """A list item's marker."""

    kind: str
    """The bullet, or the delimiter after the number: items of one list share it."""
    number: int | None
    width: int
    """Characters of the marker alone."""


_BULLETS = {mark: Marker(mark, None, 1) for mark in "-+*"}


def first_column(line: str, start: int = 0) -> int:
    """Position of the first character that is no space, at or after ``start``; the length of a blank line."""
    if line[start : start + 1] != " ":
        return min(start, len(line))
    found = _SPACES.match(line, start)
    return found.end() if found else start


def heading_level(line: str, at: int) -> int:
    """Level of the ATX heading that begins here, or 0."""
    found = _ATX.match(line, at) if line[at : at + 1] == "#" else None
    return found.end() - at if found else 0


def heading_text(line: str) -> str:
    """Text of an ATX heading's line without its marks."""
    text = line.strip(" \t").lstrip("#").strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text


def underline_level(line: str, at: int) -> int:
    """1 or 2 when the line from here on underlines a setext heading, else 0."""
    if not _SETEXT.match(line, at):
        return 0
    return 1 if line[at] == "=" else 2


def thematic_break(line: str, at: int) -> bool:
    """Whether the line from here on is a thematic break."""
    if at >= len(line):
        return False
    mark = line[at]
    return mark in "-*_" and line.count(mark, at) >= 3 and not line[at:].strip(mark + " ")


def fence(line: str, at: int) -> str:
    """The fence that opens here, such as three backticks; empty when there is none."""
    mark = line[at : at + 1]
    if mark not in ("`", "~") or line[at : at + 3] != mark * 3:
        return ""
    rest = line[at:].lstrip(mark)
    return "" if mark == "`" and "`" in rest else mark * (len(line) - at - len(rest))


def closes_fence(line: str, opened: str, at: int) -> bool:
    """Whether the line from ``at``, its first character that is no space, closes the fence."""
    rest = line[at:].rstrip(" ")
    return len(rest) >= len(opened) and not rest.strip(opened[0])


def list_marker(line: str, at: int) -> Marker | None:
    """The list marker that begins here; whether it is a thematic break instead must be asked before."""
    mark = line[at : at + 1]
    if mark in _BULLETS:
        return _BULLETS[mark] if line[at + 1 : at + 2] in ("", " ") else None
    if mark.isdecimal() and (found := _ORDERED.match(line, at)):
        return Marker(found[2], int(found[1]), len(found[0]))
    return None


def interrupts(marker: Marker, line: str, at: int) -> bool:
    """Whether an item with this marker may break into a paragraph."""
    return marker.number in (None, 1) and bool(line[at + marker.width :].strip(" "))


def html_end(line: str, at: int, *, interrupting: bool) -> re.Pattern[str] | str | None:
    """How the block of HTML that begins here ends.

    Returns
    -------
    re.Pattern | str | None
        A pattern that its last line holds, ``""`` for a blank line, ``None`` when no block of HTML begins here.
    """
    if line[at : at + 1] != "<":
        return None
    for opening, ending in _HTML_ENDS:
        if opening.match(line, at):
            return ending
    if _BLOCK_TAG.match(line, at):
        return ""
    return None if interrupting or not _WHOLE_TAG.match(line, at) else ""


_HTML_ENDS = (
    (_RAW_TAG, _RAW_END),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
)


def table_columns(header: str, delimiter: str) -> int:
    """Columns of the table that begins with these two lines, or 0 when none does."""
    at, head = first_column(delimiter), first_column(header)
    if at >= INDENTED or head >= INDENTED or "|" not in header or delimiter[at : at + 1] not in ("|", "-", ":"):
        return 0
    if delimiter.strip("|-: ") or delimiter[at : at + 2] == "- " or at + 1 >= len(delimiter):
        return 0
    cells = [cell.strip(" ") for cell in delimiter.split("|")]
    inner = cells[not cells[0] : len(cells) - (len(cells) > 1 and not cells[-1])]
    if not inner or not all(_DELIMITER_CELL.fullmatch(cell) for cell in inner):
        return 0
    return len(inner) if len(inner) == _cells(header) else 0


def _cells(row: str) -> int:
    bare = row.strip(" ")
    bars = sum(1 for _ in _BAR.finditer(bare))
    return bars + 1 - bare.startswith("|") - (len(bare) > 1 and bool(re.search(r"(?<!\\)\|$", bare)))


def table_begins(lines: Lines, index: int) -> bool:
    """Whether this line and the next begin a table."""
    if index + 1 >= len(lines):
        return False
    delimiter = lines.expanded(index + 1)
    # Most lines are told apart by their first character alone.
    return delimiter.lstrip(" ")[:1] in ("|", "-", ":") and table_columns(lines.expanded(index), delimiter) > 0


def plain_start(line: str, at: int) -> bool:
    """Whether the line's first character can begin nothing but a paragraph or a table."""
    character = line[at : at + 1]
    return character.isalpha() or _PLAIN_START.match(character) is not None


def breaks_paragraph(line: str, at: int) -> bool:
    """Whether a block begins here that ends an open paragraph."""
    if plain_start(line, at):
        return False
    marker = list_marker(line, at)
    return (
        line[at] == ">"
        or heading_level(line, at) > 0
        or bool(fence(line, at))
        or thematic_break(line, at)
        or (marker is not None and interrupts(marker, line, at))
        or html_end(line, at, interrupting=True) is not None
    )


def begins_block(line: str, at: int) -> bool:
    """Whether a block begins here that is no continuation of a table or a lazy paragraph."""
    return not plain_start(line, at) and (list_marker(line, at) is not None or breaks_paragraph(line, at))
