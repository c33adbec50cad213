"""Typed blocks from JSON, as a document."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeGuard

from ingestd.errors import ConfigurationError
from ingestd.model.document import Block, BlockType, Document

_MOST_FINDINGS = 5
_MARKS: Mapping[BlockType, tuple[str, str]] = MappingProxyType(
    {
        BlockType.TITLE: ("# ", ""),
        BlockType.SECTION: ("## ", ""),
        BlockType.CODE: ("```\n", "\n```"),
        BlockType.FORMULA: ("$$\n", "\n$$"),
    }
)
_LEVELS: Mapping[BlockType, int] = MappingProxyType({BlockType.TITLE: 1, BlockType.SECTION: 2})


def document_from_blocks(text: str, source: str) -> Document:
    """Document of blocks in the contract's form: ``{"filename": …, "blocks": […]}`` or the bare list.

    Parameters
    ----------
    text
        JSON; each block has ``type``, ``text`` and ``page`` (0-based, 0 where it is missing).
    source
        What the text was read from: names it in messages, and titles a document that has no title.

    Raises
    ------
    ConfigurationError
        When it is no such JSON; names the first blocks that are wrong.
    """
    blocks, name = _parsed(text, source)
    findings = [finding for index, block in enumerate(blocks) for finding in _findings(index, block)]
    if findings:
        more = f" (and {len(findings) - _MOST_FINDINGS} more)" if len(findings) > _MOST_FINDINGS else ""
        raise ConfigurationError(f"{source}: {'; '.join(findings[:_MOST_FINDINGS])}{more}")
    placed: list[Block] = []
    markdown = ""
    for block in blocks:
        piece = str(block.get("text") or "").strip()
        if piece:
            markdown += "\n\n" if markdown else ""
            placed.append(_block(BlockType(block["type"]), piece, len(markdown), block.get("page", 0) + 1))
            markdown += _marked(placed[-1].type, piece)
    titles = (block.text for block in placed if block.type is BlockType.TITLE)
    return Document(
        title=next(titles, name) or source,
        markdown=markdown,
        blocks=tuple(placed),
        page_count=max((block.page or 0 for block in placed), default=None),
        converter="blocks/1",
    )


def _parsed(text: str, source: str) -> tuple[list[Any], str]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{source} is no JSON: {error}") from error
    if _is_object(value):
        blocks, name = value.get("blocks"), str(value.get("filename") or source)
    else:
        blocks, name = value, source
    if not _is_list(blocks):
        raise ConfigurationError(
            f'{source} holds no blocks: expected {{"filename": …, "blocks": […]}} or a list of them'
        )
    return blocks, name


def _findings(index: int, block: object) -> list[str]:
    if not _is_object(block):
        return [f"block {index}: must be an object, got {type(block).__name__}"]
    found: list[str] = []
    kinds = sorted(kind.value for kind in BlockType)
    if block.get("type") not in kinds:
        found.append(f"block {index}: type {block.get('type')!r} is none of {', '.join(kinds)}")
    if not isinstance(block.get("text"), str | None):
        found.append(f"block {index}: text must be a string or null, got {type(block['text']).__name__}")
    page = block.get("page", 0)
    if not isinstance(page, int) or isinstance(page, bool) or page < 0:
        found.append(f"block {index}: page must be a whole number from 0 up, got {page!r}")
    return found


def _block(kind: BlockType, text: str, start: int, page: int) -> Block:
    end = start + len(_marked(kind, text))
    return Block(type=kind, text=text, start=start, end=end, level=_LEVELS.get(kind), page=page)


def _marked(kind: BlockType, text: str) -> str:
    before, after = _MARKS.get(kind, ("", ""))
    return f"{before}{text}{after}"


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
