"""Pieces of a document as Docling models it, in its own reading order."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ingestd.convert.render import Item, Piece, one_line
from ingestd.model.document import BlockType

_LABELS = {
    "caption": BlockType.CAPTION,
    "footnote": BlockType.FOOTNOTE,
    "page_header": BlockType.FURNITURE,
    "page_footer": BlockType.FURNITURE,
    "formula": BlockType.FORMULA,
    "code": BlockType.CODE,
}
_LISTS = frozenset({"list", "ordered_list"})
_NUMBER = re.compile(r"\(?(\d{1,9})[.)]?$")
_BEFORE_PUNCTUATION = re.compile(r"\s+([.,;:!?)\]])")
_MAX_DEPTH = 64


@dataclass(slots=True)
class _Reading:
    document: Any
    below_title: int
    """1 when the document has a title, whose sections then begin at level 2."""
    items: list[Item] = field(default_factory=list[Item])
    page: int | None = None
    """Of the list that is being read."""
    taken: set[str] = field(default_factory=set[str])
    """References of texts that were read as parts of another."""


def pieces_of(document: Any, layers: set[Any]) -> Iterator[Piece]:
    """Pieces of a ``DoclingDocument``, of the content layers named; pictures without a text give none."""
    entries = list(document.iterate_items(with_groups=True, included_content_layers=layers))
    titled = any(_label(item) == "title" for item, _ in entries)
    reading = _Reading(document, 1 if titled else 0)
    for item, _ in entries:
        if item.self_ref in reading.taken:
            continue
        if _label(item) == "list_item":
            _read_item(reading, item)
            continue
        if _label(item) in _LISTS:
            continue
        yield from _list(reading)
        yield from _read(reading, item)
    yield from _list(reading)


def _read(reading: _Reading, item: Any) -> Iterator[Piece]:
    label, page = _label(item), _page(item)
    if label == "table":
        rows = tuple(tuple(str(cell.text) for cell in row) for row in item.data.grid)
        yield Piece(type=BlockType.TABLE, rows=rows, header_rows=_header_rows(item.data.grid), page=page)
        return
    text = _inline(reading, item) if label == "inline" else str(getattr(item, "text", "") or "")
    if not text.strip():
        return
    if label in ("title", "section_header"):
        level = 1 if label == "title" else int(item.level) + reading.below_title
        yield Piece(type=BlockType.SECTION, text=text, level=level, page=page)
    elif _layer(item) == "furniture":
        yield Piece(type=BlockType.FURNITURE, text=text, page=page)
    else:
        language = str(getattr(item, "code_language", "") or "")
        language = "" if language.endswith("unknown") else language.rpartition(".")[2].lower()
        yield Piece(type=_LABELS.get(label, BlockType.PARAGRAPH), text=text, page=page, language=language or None)


def _read_item(reading: _Reading, item: Any) -> None:
    """Add an item to the list that is being read; its own text may lie in a group below it."""
    text = str(item.text or "") or " ".join(_inline(reading, child) for child in _children(reading, item, "inline"))
    if not text.strip():
        return
    number = _NUMBER.match(str(item.marker or "")) if item.enumerated else None
    ordered = (int(number[1]) if number else len(reading.items) + 1) if item.enumerated else None
    reading.page = reading.page or _page(item)
    reading.items.append(Item(text=one_line(text), depth=_depth(reading, item), number=ordered))


def _list(reading: _Reading) -> Iterator[Piece]:
    if reading.items:
        yield Piece(type=BlockType.LIST, items=tuple(reading.items), page=reading.page)
        reading.items, reading.page = [], None


def _inline(reading: _Reading, group: Any) -> str:
    """Texts of an inline group as one."""
    texts: list[str] = []
    for child in _children(reading, group):
        reading.taken.add(child.self_ref)
        texts.append(str(getattr(child, "text", "") or ""))
    reading.taken.add(group.self_ref)
    return _BEFORE_PUNCTUATION.sub(r"\1", " ".join(filter(None, texts)))


def _children(reading: _Reading, item: Any, label: str = "") -> Iterable[Any]:
    children = [reference.resolve(reading.document) for reference in item.children]
    return [child for child in children if not label or _label(child) == label]


def _depth(reading: _Reading, item: Any) -> int:
    """Lists around the item's own list."""
    depth, steps = -1, 0
    while item.parent is not None and steps < _MAX_DEPTH:
        item = item.parent.resolve(reading.document)
        depth += _label(item) in _LISTS
        steps += 1
    return max(depth, 0)


def _header_rows(grid: list[list[Any]]) -> int:
    return next((index for index, row in enumerate(grid) if not all(cell.column_header for cell in row)), 0)


def _label(item: Any) -> str:
    label = getattr(item, "label", "")
    return str(getattr(label, "value", label))


def _layer(item: Any) -> str:
    layer = getattr(item, "content_layer", "")
    return str(getattr(layer, "value", layer))


def _page(item: Any) -> int | None:
    provenance = getattr(item, "prov", None)
    return int(provenance[0].page_no) if provenance else None
