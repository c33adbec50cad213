"""A converted source: ordered blocks, and the Markdown that they were rendered to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class BlockType(StrEnum):
    """What a block is."""

    TITLE = "title"
    SECTION = "section"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CAPTION = "caption"
    FORMULA = "formula"
    CODE = "code"
    FOOTNOTE = "footnote"
    AUTHORS = "authors"
    PICTURE = "picture"
    FURNITURE = "furniture"
    """Running headers, footers, page numbers, markup that carries no text: in the Markdown, never in a chunk's own text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A typed piece of a document, in reading order."""

    type: BlockType
    text: str
    """Plain text of the block without its Markdown marks: a heading without ``#``, code without its fence. A table's
    text is its Markdown rows, a list's text its item lines with their marks."""
    start: int
    """First character of the block in the document's Markdown."""
    end: int
    """One past the last character, in the document's Markdown; trailing blank lines excluded."""
    level: int | None = None
    """Titles and sections: 1 is the outermost."""
    page: int | None = None
    """1-based; ``None`` where the format has no pages."""
    bbox: tuple[float, float, float, float] | None = None
    """Left, top, right, bottom in points from the page's top left corner."""
    language: str | None = None
    """Code: the language that its fence names."""
    header_rows: int = 0
    """Tables: how many of the first Markdown rows (the delimiter row included) head the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a converter makes of one file.

    Blocks are ordered by ``start``, do not overlap and lie inside ``markdown``; what lies between them is white space
    (or, in a Markdown file, marks that carry no text).
    """

    title: str
    """Never empty: a title block, the metadata, or the file's stem."""
    markdown: str
    blocks: tuple[Block, ...]
    meta: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Front matter and the format's own metadata, JSON values only."""
    page_count: int | None = None
    converter: str = ""
    """``name/version`` of the adapter that made it."""
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Package versions and other facts that are recorded and never trigger anything."""


def document_as_json(document: Document) -> dict[str, Any]:
    """Document as JSON values, for caches and pipes; :func:`document_from_json` reads it back."""
    return {
        "title": document.title,
        "markdown": document.markdown,
        "blocks": [_block_as_json(block) for block in document.blocks],
        "meta": dict(document.meta),
        "page_count": document.page_count,
        "converter": document.converter,
        "provenance": dict(document.provenance),
    }


def document_from_json(value: Mapping[str, Any]) -> Document:
    """Document from what :func:`document_as_json` gave.

    Raises
    ------
    KeyError, TypeError, ValueError
        When the value is not such a document.
    """
    return Document(
        title=value["title"],
        markdown=value["markdown"],
        blocks=tuple(_block_from_json(block) for block in value["blocks"]),
        meta=MappingProxyType(dict(value["meta"])),
        page_count=value["page_count"],
        converter=value["converter"],
        provenance=MappingProxyType(dict(value["provenance"])),
    )


def _block_as_json(block: Block) -> list[Any]:
    return [
        block.type.value,
        block.text,
        block.start,
        block.end,
        block.level,
        block.page,
        list(block.bbox) if block.bbox else None,
        block.language,
        block.header_rows,
    ]


def _block_from_json(value: list[Any]) -> Block:
    kind, text, start, end, level, page, bbox, language, header_rows = value
    return Block(
        type=BlockType(kind),
        text=text,
        start=start,
        end=end,
        level=level,
        page=page,
        bbox=(bbox[0], bbox[1], bbox[2], bbox[3]) if bbox else None,
        language=language,
        header_rows=header_rows,
    )
