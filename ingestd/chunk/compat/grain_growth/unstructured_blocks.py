"""Blocks from elements of Unstructured, of which only attributes are read."""

from collections.abc import Iterable
from typing import Any

from ingestd.chunk.compat.grain_growth.blocks import Block

_TYPES = {
    "Title": "section",
    "Header": "section",
    "ListItem": "list",
    "FigureCaption": "caption",
    "Table": "table",
    "Formula": "formula",
    "Footer": "footnote",
}
_DROPPED = {"PageBreak", "Image", "PageNumber", "Address", "EmailAddress"}


def from_unstructured(elements: Iterable[object], title: str | None = None) -> list[Block]:
    """Blocks in the elements' order.

    Parameters
    ----------
    elements
        Each with ``text``, ``metadata`` and ``category``, or else a class of the category's name.
    title
        Of the document; becomes the first block.

    Raises
    ------
    ValueError
        An element's text is no string.
    """
    blocks: list[Block] = [{"type": "title", "page": 0, "text": title}] if title else []
    for at, element in enumerate(elements):
        category, text = _category(element), _text(element, at)
        if text and category not in _DROPPED:
            blocks.append({"type": _TYPES.get(category, "paragraph"), "page": _page(element), "text": text})
    return blocks


def _category(element: Any) -> str:
    return getattr(element, "category", None) or type(element).__name__


def _text(element: Any, at: int) -> str:
    text = getattr(element, "text", None) or ""
    if not isinstance(text, str):
        fault = f"element {at}: text must be a string or None, got {type(text).__name__}"
        raise ValueError(fault)  # noqa: TRY004  # bad elements are ValueErrors, as bad blocks are
    return text.strip()


def _page(element: Any) -> int:
    number = getattr(getattr(element, "metadata", None), "page_number", None)
    return max(0, number - 1) if isinstance(number, int) else 0
