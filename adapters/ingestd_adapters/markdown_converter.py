"""Markdown files, as they are: the document's Markdown is the file's own text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ingestd.convert.decode import decode
from ingestd.convert.naming import stem
from ingestd.model.document import Block, BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter
from ingestd_adapters.front_matter import front_matter
from ingestd_adapters.markdown_blocks import scan

_LINK = re.compile(r"!?\[([^\[\]]*+)\]\([^()]*+\)")
_EMPHASIS = re.compile(r"[*`]++|(?<!\w)_++|_++(?!\w)")
_SPACE = re.compile(r"\s++")
_HEAD_LINES = re.compile(r"\r\n|\n|\r")
_HEAD_CHARACTERS = 256 * 1024
"""Front matter is looked for in this much of a file."""

_STAGE = Stage(name="markdown", version=1)


def markdown(options: Mapping[str, Any]) -> Converter:
    """Converter of Markdown; takes no options."""
    del options
    return _MarkdownConverter()


@dataclass(frozen=True, slots=True)
class _MarkdownConverter:
    stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset({"text/markdown"})
    in_process: bool = True

    def convert(self, request: ConversionRequest) -> Document:
        return self.convert_bytes(request.path.read_bytes(), request.name)

    def convert_bytes(self, content: bytes, name: str) -> Document:
        decoded = decode(content)
        return markdown_document(decoded.text, name=name, encoding=decoded.encoding)

    def document_of(self, text: str, name: str) -> Document:
        return markdown_document(text, name=name)


def markdown_document(text: str, *, name: str, encoding: str = "utf-8") -> Document:
    """Document of a Markdown text.

    Parameters
    ----------
    text
        Becomes the document's Markdown, character for character.
    name
        File name, whose stem is the title when nothing else is.
    encoding
        Recorded in ``meta`` when it is not UTF-8.
    """
    head = front_matter(_HEAD_LINES.split(text[:_HEAD_CHARACTERS]))
    blocks = scan(text, head.lines if head else 0)
    if head:
        blocks.insert(0, _front_block(text, head.lines))
    meta: dict[str, Any] = dict(head.values) if head else {}
    if encoding != "utf-8":
        meta["encoding"] = encoding
    title, blocks, origin = _titled(blocks, meta, name)
    return Document(
        title=title,
        markdown=text,
        blocks=tuple(blocks),
        meta=meta,
        converter="markdown/1",
        provenance={"title": origin},
    )


def _front_block(text: str, lines: int) -> Block:
    end = 0
    for count, found in enumerate(_HEAD_LINES.finditer(text), start=1):
        end = found.start()
        if count == lines:
            break
    else:
        end = len(text)
    return Block(type=BlockType.FURNITURE, text="", start=0, end=end)


def _titled(blocks: list[Block], meta: Mapping[str, Any], name: str) -> tuple[str, list[Block], str]:
    """Title, the blocks with the first heading of level 1 as title, and where the title comes from."""
    for index, block in enumerate(blocks):
        if block.type is BlockType.SECTION and block.level == 1:
            titled = [*blocks[:index], replace(block, type=BlockType.TITLE), *blocks[index + 1 :]]
            return plain(block.text) or block.text, titled, "heading"
    stated = meta.get("title")
    if isinstance(stated, str) and stated.strip():
        return stated.strip(), blocks, "meta"
    return stem(name), blocks, "name"


def plain(text: str) -> str:
    """One line of text without emphasis, code marks and link targets."""
    return _SPACE.sub(" ", _EMPHASIS.sub("", _LINK.sub(r"\1", text))).strip()
