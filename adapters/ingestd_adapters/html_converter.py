"""HTML files: what a reader of the page would read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ingestd.convert.decode import decode
from ingestd.convert.naming import stem
from ingestd.convert.render import Piece, one_line, render
from ingestd.model.document import BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter
from ingestd_adapters.html_blocks import page_of
from ingestd_adapters.html_tokens import tokens

_CHARSET = re.compile(rb"""<meta[^>]{0,256}?charset\s*=\s*["']?([\w-]{1,40})""", re.IGNORECASE)
_CHARSET_WITHIN_BYTES = 4096
_STAGE = Stage(name="html", version=1)


def html(options: Mapping[str, Any]) -> Converter:
    """Converter of HTML; takes no options."""
    del options
    return _HtmlConverter()


@dataclass(frozen=True, slots=True)
class _HtmlConverter:
    stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset({"text/html"})
    in_process: bool = True

    def convert(self, request: ConversionRequest) -> Document:
        return self.convert_bytes(request.path.read_bytes(), request.name)

    def convert_bytes(self, content: bytes, name: str) -> Document:
        declared = _CHARSET.search(content[:_CHARSET_WITHIN_BYTES])
        decoded = decode(content, declared[1].decode("ascii") if declared else "")
        document = html_document(decoded.text, name=name, converter="html/1")
        if decoded.encoding == "utf-8":
            return document
        return replace(document, meta={**document.meta, "encoding": decoded.encoding})


def html_document(page: str, *, name: str, converter: str) -> Document:
    """Document of a page of HTML.

    Parameters
    ----------
    page
        The page's text.
    name
        File name, whose stem is the title when the page states none.
    converter
        ``name/version`` of the adapter, for the document.
    """
    read = page_of(tokens(page))
    pieces, heading = titled(read.pieces)
    stated = heading or read.title or read.meta.get("title", "")
    markdown, blocks = render(pieces)
    origin = "heading" if heading else "meta" if stated else "name"
    return Document(
        title=stated or stem(name),
        markdown=markdown,
        blocks=blocks,
        meta={**({"title": read.title} if read.title else {}), **read.meta},
        converter=converter,
        provenance={"title": origin},
    )


def titled(pieces: Sequence[Piece]) -> tuple[list[Piece], str]:
    """The pieces with the first heading of level 1 as title, and its text; empty when there is none."""
    for index, piece in enumerate(pieces):
        if piece.type is BlockType.SECTION and piece.level == 1 and one_line(piece.text):
            title = replace(piece, type=BlockType.TITLE)
            return [*pieces[:index], title, *pieces[index + 1 :]], one_line(piece.text)
    return list(pieces), ""
