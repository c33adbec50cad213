"""Whether a converted document may go on."""

from collections.abc import Mapping
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
    match value:
        case str():
            return clean(value)
        case Mapping() if depth < _MAX_META_DEPTH:
            return {clean(str(key)): _clean_value(each, depth + 1) for key, each in value.items()}
        case list() | tuple() if depth < _MAX_META_DEPTH:
            return [_clean_value(each, depth + 1) for each in value]
        case None | bool() | int():
            return value
        case float() if value - value == 0:
            return value
        case _:
            return clean(str(value))
