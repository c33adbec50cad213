"""Plain text: paragraphs between blank lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingestd.convert.decode import decode
from ingestd.convert.naming import stem
from ingestd.model.document import Block, BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter

_BLANK = re.compile(r"(?>\r\n|\n|\r)(?:[ \t]*+(?>\r\n|\n|\r))++")
_LINE_END = re.compile(r"\r\n|\r")

_STAGE = Stage(name="text", version=1)


def text(options: Mapping[str, Any]) -> Converter:
    """Converter of plain text; takes no options."""
    del options
    return _TextConverter()


@dataclass(frozen=True, slots=True)
class _TextConverter:
    stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset({"text/plain", "text/x-rst", "text/x-org", "text/asciidoc", "text/x-tex"})
    in_process: bool = True

    def convert(self, request: ConversionRequest) -> Document:
        return self.convert_bytes(request.path.read_bytes(), request.name)

    def convert_bytes(self, content: bytes, name: str) -> Document:
        decoded = decode(content)
        return Document(
            title=stem(name),
            markdown=decoded.text,
            blocks=tuple(_paragraphs(decoded.text)),
            meta={} if decoded.encoding == "utf-8" else {"encoding": decoded.encoding},
            converter="text/1",
            provenance={"title": "name"},
        )


def _paragraphs(whole: str) -> list[Block]:
    """Stretches between blank lines. Every character of text is in one of them."""
    blocks: list[Block] = []
    start = 0
    for end, following in [*((found.start(), found.end()) for found in _BLANK.finditer(whole)), (len(whole), 0)]:
        piece = whole[start:end]
        bare = piece.strip()
        if bare:
            first = start + len(piece) - len(piece.lstrip())
            blocks.append(
                Block(type=BlockType.PARAGRAPH, text=_LINE_END.sub("\n", bare), start=first, end=first + len(bare))
            )
        start = following
    return blocks
