"""Pieces of a PDF in reading order, from what a layout engine saw on its pages.

Mends what such engines leave: running headers and page numbers among the text, paragraphs cut at columns and pages,
author lines taken for headings, heading levels that follow font size alone.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestd.convert.render import Item, Piece, one_line
from ingestd.model.document import BlockType
from ingestd_adapters.pdf_paragraphs import around, joined, merged_lists
from ingestd_adapters.pdf_preflight import OutlineEntry

_EMPHASIS = re.compile(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*[-\u2013\u2014]?\s*(?:\d{1,5}|[ivxlc]{1,7})\s*[-\u2013\u2014]?(?:\s*(?:/|of|von)\s*\d{1,5})?$",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,5}|[A-Z](?=\.))\.?\s+\S")
_CAPTION = re.compile(
    r"(?:fig(?:ure)?|table|tab|listing|algorithm|abbildung|abb|tabelle)\.?\s*\d+(?:\.\d+)*\s*[.:]", re.IGNORECASE
)
_MAIL = re.compile(r"[\w.+}-]+\s*@\s*[\w-]+\.\w")
_ABSTRACT = re.compile(r"(?:abstract|summary|zusammenfassung|introduction|einleitung)\b", re.IGNORECASE)
_BAND = 0.09
"""Running headers and footers lie within this share of the page's height from its edges."""
_LONGEST_CAPTION = 2_000
_LONG_PARAGRAPH = 300
"""Author lines are shorter than this many characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One block that the engine saw."""

    kind: str
    """``heading``, ``paragraph``, ``list_item``, ``table`` or ``code``."""
    page: int
    """1-based."""
    bbox: tuple[float, float, float, float] | None
    """Left, top, right, bottom in points from the top left corner."""
    page_height: float
    text: str = ""
    level: int = 0
    """Headings: 1 is the outermost; list items: 0 is."""
    number: int | None = None
    """Of a list item in an ordered list."""
    rows: tuple[tuple[str, ...], ...] = ()
    header_rows: int = 0
    language: str | None = None


def pieces_of(seen: Sequence[Seen], outline: Sequence[OutlineEntry], page_count: int) -> list[Piece]:
    """Pieces in reading order; nothing that was seen is lost, but for blocks without text."""
    cleaned = [_plain(block) for block in seen]
    furniture = _furniture(cleaned, page_count)
    body = _promoted(cleaned, furniture, outline)
    body = _levelled(body, furniture)
    pieces = [
        _piece(block, edge=edge)
        for block, edge in zip(body, furniture, strict=True)
        if block.text or block.kind == "table"
    ]
    return list(joined(merged_lists(_with_authors(_with_title(pieces)))))


def _plain(block: Seen) -> Seen:
    return block if block.kind == "code" else replace(block, text=one_line(_EMPHASIS.sub("", block.text)))


def _furniture(seen: Sequence[Seen], page_count: int) -> list[bool]:
    """Which blocks repeat, but for their numbers, in the edges of pages, or are a page number there."""
    keys = [_edge_key(block) for block in seen]
    pages: Counter[tuple[str, str]] = Counter()
    for key in {(key, block.page) for key, block in zip(keys, seen, strict=True) if key}:
        pages[key[0]] += 1
    enough = max(2, min(3, page_count))
    return [
        key is not None and (pages[key] >= enough or bool(_PAGE_NUMBER.match(block.text)))
        for key, block in zip(keys, seen, strict=True)
    ]


def _edge_key(block: Seen) -> tuple[str, str] | None:
    """Edge and text without numbers of a short block in a page's edge."""
    if block.bbox is None or block.kind in ("table", "code") or len(block.text) > 200 or not block.text:
        return None
    edge = block.page_height * _BAND
    if block.bbox[3] <= edge:
        return "top", _DIGITS.sub("#", block.text.lower())
    if block.bbox[1] >= block.page_height - edge:
        return "bottom", _DIGITS.sub("#", block.text.lower())
    return None


def _promoted(seen: Sequence[Seen], furniture: Sequence[bool], outline: Sequence[OutlineEntry]) -> list[Seen]:
    """Blocks that the outline names become headings of its level."""
    by_page: dict[int, dict[str, int]] = {}
    for entry in outline:
        by_page.setdefault(entry.page, {}).setdefault(_bare(entry.title), entry.level)
    promoted: list[Seen] = []
    for block, edge in zip(seen, furniture, strict=True):
        level = (
            by_page.get(block.page, {}).get(_bare(block.text), 0)
            if block.kind in ("heading", "paragraph", "list_item")
            else 0
        )
        promoted.append(
            replace(block, kind="heading", level=level) if level and not edge and _bare(block.text) else block
        )
    return promoted


def _bare(text: str) -> str:
    """Text for comparing headings: without numbering, case and punctuation."""
    found = _NUMBERING.match(text)
    rest = text[found.end(1) :] if found else text
    return "".join(character for character in rest.lower() if character.isalnum())


def _levelled(seen: Sequence[Seen], furniture: Sequence[bool]) -> list[Seen]:
    """Headings at levels that follow their numbering, and never skip one downwards."""
    numbered = [
        block.level - _depth(block.text)
        for block, edge in zip(seen, furniture, strict=True)
        if block.kind == "heading" and not edge and _depth(block.text)
    ]
    base = Counter(numbered).most_common(1)[0][0] if numbered else 0
    levelled: list[Seen] = []
    before = 0
    for block, edge in zip(seen, furniture, strict=True):
        if block.kind != "heading" or edge:
            levelled.append(block)
            continue
        depth = _depth(block.text)
        level = max(base, 0) + depth if depth else block.level
        before = min(max(level, 1), before + 1, 6)
        levelled.append(replace(block, level=before))
    return levelled


def _depth(text: str) -> int:
    found = _NUMBERING.match(text)
    return found[1].count(".") + 1 if found else 0


def _piece(block: Seen, *, edge: bool) -> Piece:
    """The piece that a block becomes; ``edge`` says that it is furniture."""
    piece = Piece(type=BlockType.PARAGRAPH, text=block.text, page=block.page, bbox=block.bbox)
    if edge:
        return replace(piece, type=BlockType.FURNITURE)
    match block.kind:
        case "heading":
            return replace(piece, type=BlockType.SECTION, level=block.level)
        case "list_item":
            item = Item(text=block.text, depth=block.level, number=block.number)
            return replace(piece, type=BlockType.LIST, text="", items=(item,))
        case "table":
            rows = tuple(tuple(_EMPHASIS.sub("", cell) for cell in row) for row in block.rows)
            return replace(piece, type=BlockType.TABLE, text="", rows=rows, header_rows=block.header_rows)
        case "code":
            return replace(piece, type=BlockType.CODE, language=block.language)
        case _:
            captioned = _CAPTION.match(block.text) and len(block.text) < _LONGEST_CAPTION
            return replace(piece, type=BlockType.CAPTION) if captioned else piece


def _with_title(pieces: list[Piece]) -> list[Piece]:
    """The first heading of the first page as title, when no text but furniture and short lines stands before it."""
    for index, piece in enumerate(pieces):
        if piece.page != 1 or (piece.type is BlockType.PARAGRAPH and len(piece.text) > _LONG_PARAGRAPH):
            break
        if piece.type is BlockType.SECTION:
            if piece.level == 1 and not _depth(piece.text) and not _ABSTRACT.match(piece.text):
                pieces[index] = replace(piece, type=BlockType.TITLE)
            break
    return pieces


def _with_authors(pieces: list[Piece]) -> list[Piece]:
    """Short lines between the title and the first section or long paragraph, when a mail address is among them."""
    title = next((index for index, piece in enumerate(pieces) if piece.type is BlockType.TITLE), None)
    if title is None:
        return pieces
    end = title + 1
    while end < len(pieces) and _may_be_authors(pieces[end]):
        end += 1
    lines = [piece for piece in pieces[title + 1 : end] if piece.type is not BlockType.FURNITURE]
    if not any(_MAIL.search(piece.text) for piece in lines):
        return pieces
    edge = [piece for piece in pieces[title + 1 : end] if piece.type is BlockType.FURNITURE]
    authors = replace(
        lines[0], type=BlockType.AUTHORS, level=None, text="\n".join(piece.text for piece in lines), bbox=around(lines)
    )
    return [*pieces[: title + 1], *edge, authors, *pieces[end:]]


def _may_be_authors(piece: Piece) -> bool:
    if piece.page != 1 or piece.type not in (BlockType.PARAGRAPH, BlockType.SECTION, BlockType.FURNITURE):
        return False
    if piece.type is BlockType.SECTION and _depth(piece.text):
        return False
    return len(piece.text) < _LONG_PARAGRAPH and not _ABSTRACT.match(piece.text)
