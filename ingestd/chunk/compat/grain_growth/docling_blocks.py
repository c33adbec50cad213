"""Blocks from a document of Docling, of which only attributes are read."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from ingestd.chunk.compat.grain_growth.blocks import Block

_TYPES = {
    "title": "title",
    "section_header": "section",
    "list_item": "list",
    "reference": "list",
    "caption": "caption",
    "table": "table",
    "document_index": "table",
    "formula": "formula",
    "footnote": "footnote",
}
_DROPPED = {"page_header", "page_footer", "picture"}


def from_docling(document: object) -> list[Block]:
    """Blocks ordered by page: texts first, then tables, as the published package has them.

    Parameters
    ----------
    document
        A ``DoclingDocument``: anything with ``texts`` and ``tables``, or with ``iterate_items()``.
    """
    items = ((_label(item), item) for item in _items(document))
    found = ((label, item, _text(item)) for label, item in items if label not in _DROPPED)
    blocks: list[Block] = [
        {"type": _TYPES.get(label, "paragraph"), "page": _page(item), "text": text}
        for label, item, text in found
        if text
    ]
    blocks.sort(key=lambda block: block["page"] or 0)
    return blocks


def _items(document: Any) -> Iterable[object]:
    texts = getattr(document, "texts", None)
    if texts is not None:
        yield from texts
        yield from getattr(document, "tables", None) or ()
        return
    iterate = getattr(document, "iterate_items", None)
    for item in iterate() if iterate else ():
        yield item[0] if isinstance(item, tuple) and item else item


def _label(item: Any) -> str:
    return str(getattr(item, "label", "")).rsplit(".", maxsplit=1)[-1].lower()


def _text(item: Any) -> str:
    for text in (getattr(item, "text", None), getattr(item, "orig", None)):
        if isinstance(text, str) and text.strip():
            return text.strip()
    export = getattr(item, "export_to_markdown", None)
    if not callable(export):
        return ""
    try:
        return str(export() or "").strip()
    except Exception:  # noqa: BLE001  # whatever another program's method raises, the item has no text
        return ""


def _page(item: Any) -> int:
    provenance: object = getattr(item, "prov", None)
    if not isinstance(provenance, Sequence) or not provenance:
        return 0
    number = getattr(cast("Sequence[object]", provenance)[0], "page_no", None)
    return max(0, number - 1) if isinstance(number, int) else 0
