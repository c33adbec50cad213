"""Whether a converted document may go on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ingestd.convert.decode import clean
from ingestd.errors import DocumentTooLarge, FileEmpty
from ingestd.model.document import BlockType, Document

MAX_CHARACTERS = 64 * 1024 * 1024
MAX_BLOCKS = 50_000
_MAX_META_DEPTH = 20


def finished(document: Document, name: str) -> Document:
    """The document with clean metadata, when it holds text and is within the caps.

    Raises
    ------
    DocumentTooLarge
        Over :data:`MAX_CHARACTERS` or :data:`MAX_BLOCKS`.
    FileEmpty
        When no block carries text.
    AssertionError
        When an adapter broke the model: spans out of order or out of the Markdown.
    """
    if len(document.markdown) > MAX_CHARACTERS:
        raise DocumentTooLarge(f"{name} gives {len(document.markdown)} characters, over the {MAX_CHARACTERS} allowed")
    if len(document.blocks) > MAX_BLOCKS:
        raise DocumentTooLarge(f"{name} gives {len(document.blocks)} blocks, over the {MAX_BLOCKS} allowed: split it")
    if not any(block.text.strip() and block.type is not BlockType.FURNITURE for block in document.blocks):
        raise FileEmpty(f"{name} holds no text")
    at = 0
    for block in document.blocks:
        assert at <= block.start <= block.end <= len(document.markdown), (name, block.type, at, block.start, block.end)
        at = block.end
    meta = {clean(str(key)): _clean_value(value, 0) for key, value in document.meta.items()}
    return replace(document, title=clean(document.title).strip() or name, meta=MappingProxyType(meta))


def _clean_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if depth < _MAX_META_DEPTH and isinstance(value, Mapping):
        entries: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance tells nothing of what it holds
        return {clean(str(key)): _clean_value(each, depth + 1) for key, each in entries.items()}
    if depth < _MAX_META_DEPTH and isinstance(value, list | tuple):
        items: Sequence[Any] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance tells nothing of what it holds
        return [_clean_value(each, depth + 1) for each in items]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # as above
    return clean(str(value))
