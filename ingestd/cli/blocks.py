"""Typed blocks from JSON, as a document."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeGuard

from ingestd.errors import ConfigurationError
from ingestd.model.document import Block, BlockType, Document

_MOST_FINDINGS = 5
_BETWEEN = "\n\n"
_KINDS = sorted(kind.value for kind in BlockType)
_MARKS: Mapping[BlockType, tuple[str, str]] = MappingProxyType(
    {
        BlockType.TITLE: ("# ", ""),
        BlockType.SECTION: ("## ", ""),
        BlockType.CODE: ("```\n", "\n```"),
        BlockType.FORMULA: ("$$\n", "\n$$"),
    }
)
_LEVELS: Mapping[BlockType, int] = MappingProxyType({BlockType.TITLE: 1, BlockType.SECTION: 2})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedBlocks:
    """A document, with the blocks as they were written."""

    document: Document
    given: tuple[dict[str, Any], ...]
    origins: tuple[int | None, ...]
    """For each its index among the document's blocks; ``None`` where it has no text."""
    filename: str


def document_from_blocks(text: str, source: str) -> Document:
    """Document of :func:`typed_blocks`."""
    return typed_blocks(text, source).document


def typed_blocks(
    text: str, source: str, *, filename: str | None = None, types: Literal["known", "any"] = "known"
) -> TypedBlocks:
    """Document of blocks in the contract's form: ``{"filename": …, "blocks": […]}`` or the bare list.

    Parameters
    ----------
    text
        JSON; each block has ``type``, ``text`` and ``page`` (0-based, 0 where it is missing).
    source
        What the text was read from: names it in messages.
    filename
        Titles a document that has no title, where the text names none; ``None``: the source.
    types
        ``any``: as grain-growth 1.0.0 does, a type that nobody knows is taken for a paragraph, and a page may be null.

    Raises
    ------
    ConfigurationError
        When it is no such JSON; names the first blocks that are wrong.
    """
    blocks, name = _parsed(text, source)
    findings = [finding for index, block in enumerate(blocks) for finding in _findings(index, block, types)]
    if findings:
        more = f" (and {len(findings) - _MOST_FINDINGS} more)" if len(findings) > _MOST_FINDINGS else ""
        raise ConfigurationError(f"{source}: {'; '.join(findings[:_MOST_FINDINGS])}{more}")
    placed: list[Block] = []
    origins: list[int | None] = []
    parts: list[str] = []
    position = 0
    for block in blocks:
        piece = str(block.get("text") or "").strip()
        origins.append(len(placed) if piece else None)
        if piece:
            position += len(_BETWEEN) if placed else 0
            placed.append(_block(_kind(block["type"]), piece, position, block.get("page", 0)))
            parts.append(_marked(placed[-1].type, piece))
            position += len(parts[-1])
    name = name or filename or source
    titles = (block.text for block in placed if block.type is BlockType.TITLE)
    document = Document(
        title=next(titles, name),
        markdown=_BETWEEN.join(parts),
        blocks=tuple(placed),
        page_count=max((block.page or 0 for block in placed), default=None),
        converter="blocks/1",
    )
    return TypedBlocks(document=document, given=tuple(blocks), origins=tuple(origins), filename=name)


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


def _findings(index: int, block: object, types: Literal["known", "any"]) -> list[str]:
    if not _is_object(block):
        return [f"block {index}: must be an object, got {type(block).__name__}"]
    found: list[str] = []
    kind = block.get("type")
    if not (isinstance(kind, str) if types == "any" else kind in _KINDS):
        found.append(f"block {index}: type {kind!r} is none of {', '.join(_KINDS)}")
    if not isinstance(block.get("text"), str | None):
        found.append(f"block {index}: text must be a string or null, got {type(block['text']).__name__}")
    page = block.get("page", 0)
    is_page = isinstance(page, int) and not isinstance(page, bool) and page >= 0
    if not (is_page or (types == "any" and page is None)):
        found.append(f"block {index}: page must be a whole number from 0 up, got {page!r}")
    return found


def _kind(written: str) -> BlockType:
    return BlockType(written) if written in _KINDS else BlockType.PARAGRAPH


def _block(kind: BlockType, text: str, start: int, page: int | None) -> Block:
    end = start + len(_marked(kind, text))
    shown = None if page is None else page + 1
    return Block(type=kind, text=text, start=start, end=end, level=_LEVELS.get(kind), page=shown)


def _marked(kind: BlockType, text: str) -> str:
    before, after = _MARKS.get(kind, ("", ""))
    return f"{before}{text}{after}"


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
