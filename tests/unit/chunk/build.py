"""Documents and token counters for the tests of the chunkers."""

import re
from collections.abc import Sequence

from ingestd.chunk import Chunked, ChunkOptions, chunk
from ingestd.model.document import Block, BlockType, Document
from ingestd_adapters.punctuation_segmenter import punctuation

Piece = tuple[str, str] | tuple[str, str, dict[str, object]]
MAX_TOKENS = 512


def document(*pieces: Piece, title: str = "Manual", before: str = "", between: str = "\n\n") -> Document:
    """Document of pieces ``(kind, text[, block fields])``; kinds are block types and ``h1`` to ``h6``."""
    markdown = before
    blocks = []
    for kind, text, *rest in pieces:
        source, fields = _source(kind, text)
        fields.update(rest[0] if rest else {})
        start = len(markdown)
        blocks.append(Block(start=start, end=start + len(source), **fields))
        markdown += source + between
    return Document(title=title, markdown=markdown, blocks=tuple(blocks))


def _source(kind: str, text: str) -> tuple[str, dict[str, object]]:
    if re.fullmatch(r"h\d+", kind):
        level = int(kind[1:])
        return f"{'#' * level} {text}", {"type": BlockType.SECTION, "text": text, "level": level}
    if kind == "code":
        return f"```python\n{text}\n```", {"type": BlockType.CODE, "text": text, "language": "python"}
    if kind == "table":
        return text, {"type": BlockType.TABLE, "text": text, "header_rows": 2}
    return text, {"type": BlockType(kind), "text": text}


def words(texts: Sequence[str]) -> list[int]:
    """A token for each word and mark, and two special ones."""
    return [2 + len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def utf8(texts: Sequence[str]) -> list[int]:
    """A token for each byte, white space included."""
    return [2 + len(text.encode("utf-8", "surrogatepass")) for text in texts]


def swelling(texts: Sequence[str]) -> list[int]:
    """Far from additive: a text has more tokens than its parts together."""
    return [2 + len(text) // 3 + len(text) ** 2 // 900 for text in texts]


def chunked(made: Document, count=words, max_tokens: int = MAX_TOKENS, **options: object) -> Chunked:
    return chunk(made, ChunkOptions(**options), count, punctuation(), max_tokens=max_tokens)


def sentences(count: int, of: str = "alpha") -> str:
    """So many different sentences of nine tokens."""
    return " ".join(f"Here is sentence {number} that speaks of {of}." for number in range(count))
