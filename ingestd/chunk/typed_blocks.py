"""Typed blocks, such as a parser of documents gives, as a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeGuard

from ingestd.model.document import Block, BlockType, Document

MOST_FINDINGS = 5
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
Types = Literal["known", "any"]
"""Whether blocks of a type that nobody knows, or of page ``None``, are faulty, or as grain-growth 1.0.0 takes them:
paragraphs, and without a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedBlocks:
    """A document, with the blocks as they were given."""

    document: Document
    given: tuple[Mapping[str, Any], ...]
    origins: tuple[int | None, ...]
    """For each its index among the document's blocks, of which there is one for each; ``None`` where it has no text."""
    filename: str


def typed_blocks(blocks: Sequence[Mapping[str, Any]], filename: str) -> TypedBlocks:
    """Document of blocks that :func:`faults` finds nothing wrong with.

    Parameters
    ----------
    blocks
        In reading order, each with ``type``, ``text`` and ``page`` (0-based, 0 where it is missing).
    filename
        Titles a document without a title block.
    """
    placed: list[Block] = []
    origins: list[int | None] = []
    parts: list[str] = []
    position = 0
    for block in blocks:
        piece = str(block.get("text") or "").strip()
        origins.append(len(placed) if piece else None)
        if piece:
            position += len(_BETWEEN) if parts else 0
            parts.append(_marked(_kind(block["type"]), piece))
        # One without text is there too, so that whoever chunks the document says that it was skipped.
        placed.append(_block(_kind(block["type"]), piece, position, block.get("page", 0)))
        position = placed[-1].end
    titles = (block.text for block in placed if block.type is BlockType.TITLE and block.text)
    document = Document(
        title=next(titles, filename),
        markdown=_BETWEEN.join(parts),
        blocks=tuple(placed),
        page_count=max((block.page or 0 for block in placed), default=None),
        converter="blocks/1",
    )
    return TypedBlocks(document=document, given=tuple(blocks), origins=tuple(origins), filename=filename)


def faults(blocks: Sequence[object], types: Types = "known") -> list[str]:
    """What is wrong with the blocks, one message a fault, in their order."""
    return [fault for index, block in enumerate(blocks) for fault in _faults(index, block, types)]


def shown(found: Sequence[str]) -> str:
    """The first faults, and how many there are besides."""
    more = f" (and {len(found) - MOST_FINDINGS} more)" if len(found) > MOST_FINDINGS else ""
    return f"{'; '.join(found[:MOST_FINDINGS])}{more}"


def _faults(index: int, block: object, types: Types) -> list[str]:
    if not _is_mapping(block):
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
    return Block(
        type=kind,
        text=text,
        start=start,
        end=start + len(_marked(kind, text)),
        level=_LEVELS.get(kind),
        page=None if page is None else page + 1,
        header_rows=_header_rows(text) if kind is BlockType.TABLE else 0,
    )


def _header_rows(table: str) -> int:
    """Rows of a table in Markdown down to its delimiter row; of any other form it is not known which rows head it."""
    rows = table.split("\n", 2)[:2]
    delimiter = rows[-1].strip()
    return 2 if len(rows) == 2 and "-" in delimiter and "|" in table and not delimiter.strip("|-: \t") else 0


def _marked(kind: BlockType, text: str) -> str:
    before, after = _MARKS.get(kind, ("", "")) if text else ("", "")
    return f"{before}{text}{after}"


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
