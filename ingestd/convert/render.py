"""Markdown, with the span of each block, from what a converter found in a file.

Text that would read as a mark of Markdown at the head of a line is escaped, so that reading the Markdown again finds
the same blocks. Marks inside a line are left alone: escaping them would only blur what is embedded.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingestd.convert.decode import clean
from ingestd.model.document import Block, BlockType

_NUMBER = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)")
_MARK = re.compile(
    r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|=+\s*$|(?:[-*_]\s*){3,}$|`{3}|~{3}|<(?=[A-Za-z/!?])|\$\$|!?\[|[-:|](?=[-:|\s]*$)"
)
_CLOSING_MARKS = re.compile(r"(^|\s)(#+)$")
_ESCAPED_CLOSING = r"\1\\\2"
_BARS = re.compile(r"\\*\|")
_BACKTICKS = re.compile(r"^\s{0,3}(`{3,})", re.MULTILINE)
_NOT_A_WORD = re.compile(r"[^\w.+#-]")
_MAX_DEPTH = 20
"""Deeper list items are shown at this depth: the indentation would outgrow the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of a list."""

    text: str
    depth: int = 0
    """0 is the outermost."""
    number: int | None = None
    """Its number where the list is ordered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One block before it is rendered."""

    type: BlockType
    text: str = ""
    """Plain text; lists, tables: unused."""
    level: int | None = None
    """Titles and sections."""
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    language: str | None = None
    """Code."""
    label: str = ""
    """Footnotes: what refers to them."""
    items: tuple[Item, ...] = ()
    """Lists."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Tables: cells of each row, the header rows first."""
    header_rows: int = 0
    """Tables: how many of the rows head the others."""


def render(pieces: Iterable[Piece]) -> tuple[str, tuple[Block, ...]]:
    """Markdown and its blocks, in the order of the pieces; a piece without text gives nothing.

    For every input the blocks are in order, do not overlap, are parted by blank lines, and hold exactly what their
    pieces were rendered to.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    turn = False
    for piece in pieces:
        # Two lists that follow each other take different marks: with the same ones they would read as one list.
        turn = not turn and bool(blocks) and blocks[-1].type is BlockType.LIST
        markdown, text, header_rows = _rendered(piece, turn=turn)
        if not markdown:
            turn = not turn
            continue
        if parts:
            parts.append("\n\n")
            at += 2
        parts.append(markdown)
        blocks.append(_block(piece, text, at, at + len(markdown), header_rows))
        at += len(markdown)
    return "".join(parts) + ("\n" if parts else ""), tuple(blocks)


def _block(piece: Piece, text: str, start: int, end: int, header_rows: int) -> Block:
    return Block(
        type=piece.type,
        text=text,
        start=start,
        end=end,
        level=_level(piece) if piece.type in (BlockType.TITLE, BlockType.SECTION) else None,
        page=piece.page,
        bbox=piece.bbox,
        language=(_word(piece.language) or None) if piece.type is BlockType.CODE else None,
        header_rows=header_rows,
    )


def _rendered(piece: Piece, *, turn: bool) -> tuple[str, str, int]:
    """Markdown, plain text and header rows of one piece."""
    if piece.type is BlockType.TABLE:
        rows, header_rows = _table(piece)
        return rows, rows, header_rows
    if piece.type is BlockType.LIST:
        items = _list(piece.items, turn=turn)
        return items, items, 0
    text = _text(piece)
    return (_marked(piece, text) if text else ""), text, 0


def _text(piece: Piece) -> str:
    """Plain text of a piece that is neither list nor table."""
    match piece.type:
        case BlockType.TITLE | BlockType.SECTION | BlockType.FOOTNOTE:
            return one_line(piece.text)
        case BlockType.PICTURE:
            return one_line(piece.text).replace("[", "(").replace("]", ")")
        case BlockType.CODE:
            return _code(piece.text)
        case BlockType.FORMULA:
            return _lines(piece.text).replace("$$", "$ $")
        case _:
            return _lines(piece.text)


def _marked(piece: Piece, text: str) -> str:
    """The text with the marks of its type."""
    match piece.type:
        case BlockType.TITLE | BlockType.SECTION:
            return f"{'#' * _level(piece)} {_CLOSING_MARKS.sub(_ESCAPED_CLOSING, text)}"
        case BlockType.CODE:
            fence = "`" * max(3, 1 + max((len(found[1]) for found in _BACKTICKS.finditer(text)), default=2))
            return f"{fence}{_word(piece.language)}\n{text}\n{fence}"
        case BlockType.FORMULA:
            return f"$$\n{text}\n$$"
        case BlockType.PICTURE:
            return f"![{text}]()"
        case BlockType.FOOTNOTE if _word(piece.label):
            return f"[^{_word(piece.label)}]: {text}"
        case _:
            return "\n".join(_escaped(line) for line in text.split("\n"))


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(clean(text).split())


def _lines(text: str) -> str:
    """The text's lines without indentation and blank lines."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in clean(text).splitlines())))


def _level(piece: Piece) -> int:
    return min(max(piece.level or 1, 1), 6)


def _escaped(line: str) -> str:
    if number := _NUMBER.match(line):
        return f"{number[1]}\\{line[number.end(1) :]}"
    return f"\\{line}" if _MARK.match(line) else line


def _word(text: str | None) -> str:
    return _NOT_A_WORD.sub("", text or "")[:64]


def _code(text: str) -> str:
    whole = clean(text).replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    return whole if whole.strip() else ""


def _list(items: Sequence[Item], *, turn: bool) -> str:
    """Item lines; each deeper one is indented to its parent's text."""
    lines: list[str] = []
    columns = [0]
    ordered = next((item.number is not None for item in items if one_line(item.text)), False)
    for item in items:
        text = _lines(item.text)
        if not text:
            continue
        depth = min(max(item.depth, 0), len(columns) - 1, _MAX_DEPTH)
        marker = _marker(item, turn=turn, ordered=ordered if depth == 0 else item.number is not None)
        del columns[depth + 1 :]
        columns.append(columns[depth] + len(marker) + 1)
        first, *rest = (_escaped(line) for line in text.split("\n"))
        lines.append(f"{' ' * columns[depth]}{marker} {first}")
        lines.extend(f"{' ' * columns[-1]}{line}" for line in rest)
    return "\n".join(lines)


def _marker(item: Item, *, turn: bool, ordered: bool) -> str:
    if not ordered:
        return "*" if turn else "-"
    return f"{min(max(item.number or 1, 0), 999_999_999)}{')' if turn else '.'}"


def _table(piece: Piece) -> tuple[str, int]:
    """Markdown rows, and how many head the others; without a header row the first row stands in its place."""
    columns = max((len(row) for row in piece.rows), default=0)
    if not any(one_line(cell) for row in piece.rows for cell in row):
        return "", 0
    rows = [
        "| " + " | ".join(_cell(cell) for cell in (*row, *[""] * (columns - len(row)))) + " |" for row in piece.rows
    ]
    head = min(max(piece.header_rows, 0), len(rows))
    delimiter = "|" + " --- |" * columns
    return "\n".join([rows[0], delimiter, *rows[1:]]), head + 1 if head else 0


def _cell(text: str) -> str:
    return _BARS.sub(r"\\|", one_line(text))
