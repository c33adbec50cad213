"""Typed blocks from JSON, as a document."""

import json
from typing import Any, TypeGuard

from ingestd.chunk.typed_blocks import TypedBlocks, Types, faults, shown, typed_blocks
from ingestd.errors import ConfigurationError
from ingestd.model.document import Document


def document_from_blocks(text: str, source: str) -> Document:
    """Document of :func:`blocks_from_json`."""
    return blocks_from_json(text, source).document


def blocks_from_json(text: str, source: str, *, filename: str | None = None, types: Types = "known") -> TypedBlocks:
    """Blocks in the contract's form: ``{"filename": …, "blocks": […]}`` or the bare list.

    Parameters
    ----------
    text
        JSON; each block has ``type``, ``text`` and ``page`` (0-based, 0 where it is missing).
    source
        What the text was read from: names it in messages.
    filename
        Titles a document that has no title, where the text names none; ``None``: the source.

    Raises
    ------
    ConfigurationError
        When it is no such JSON; names the first blocks that are wrong.
    """
    blocks, name = _parsed(text, source)
    found = faults(blocks, types)
    if found:
        raise ConfigurationError(f"{source}: {shown(found)}")
    return typed_blocks(blocks, name or filename or source)


def _parsed(text: str, source: str) -> tuple[list[Any], str]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{source} is no JSON: {error}") from error
    if _is_object(value):
        blocks, name = value.get("blocks"), str(value.get("filename") or "")
    else:
        blocks, name = value, ""
    if not _is_list(blocks):
        raise ConfigurationError(
            f'{source} holds no blocks: expected {{"filename": …, "blocks": […]}} or a list of them'
        )
    return blocks, name


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
