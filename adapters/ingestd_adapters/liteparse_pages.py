"""Blocks of each page of a PDF, as liteparse sees them."""

import importlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingestd.errors import CorruptFile
from ingestd.ports.converter import ConversionRequest
from ingestd_adapters.pdf_blocks import Seen
from ingestd_adapters.pdf_preflight import Preflight

LEAST_COVERAGE = 0.5
"""Share of PDFium's characters below which a page, or a document, counts as lost."""
SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"\(?(\d{1,9})[.)]")
_PARAGRAPHS = re.compile(r"\n\s*\n")


def parsed(request: ConversionRequest, before: Preflight) -> list[list[Seen]]:
    """Blocks of each page; pages that come out empty because they are rotated are parsed again upright."""
    if before.characters == 0:
        return [[] for _ in before.pages]
    pages = _parse(request, len(before.pages), {})
    turned = {
        index + 1: page.rotation
        for index, page in enumerate(before.pages)
        if page.rotation and is_lost(pages[index], page.characters)
    }
    if turned:
        again = _parse(request, len(before.pages), turned)
        for number in turned:
            pages[number - 1] = again[number - 1]
    return pages


def _parse(request: ConversionRequest, count: int, turned: Mapping[int, int]) -> list[list[Seen]]:
    engine: Any = importlib.import_module("liteparse")

    # With OCR on, which it is by default, the first page without text would go online for its data.
    parser = engine.LiteParse(
        ocr_enabled=False,
        extract_blocks=True,
        extract_links=False,
        keep_headers_footers=True,
        max_pages=count,
        quiet=True,
        num_workers=1,
        target_pages=",".join(map(str, sorted(turned))) or None,
        page_orientation_corrections=sorted(turned.items()) or None,
    )
    pages: list[list[Seen]] = [[] for _ in range(count)]
    # It tells types by extension, and the staged copy has none.
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder) / "document.pdf"
        named.symlink_to(request.path.absolute())
        try:
            result = parser.parse(str(named))
        except engine.ParseError as error:
            raise CorruptFile(f"{request.name} cannot be parsed ({error}): it is damaged") from error
    for page in result.pages:
        if 1 <= page.page_num <= count:
            pages[page.page_num - 1] = list(_seen(page))
    return pages


def _seen(page: Any) -> Iterator[Seen]:
    for block in page.blocks or ():
        if block.kind in ("rule", "figure"):
            continue
        yield _block(block, page)


def _block(block: Any, page: Any) -> Seen:
    box = block.bbox
    number = _NUMBER.match(block.marker or "") if block.ordered else None
    header = [tuple(cell.text for cell in block.header)] if block.header else []
    rows = [tuple(cell.text for cell in row) for row in block.rows or ()]
    code = block.kind in ("code", "grid_fallback")
    return Seen(
        kind="code" if code else block.kind,
        page=page.page_num,
        bbox=(box.x, box.y, box.x + box.width, box.y + box.height) if box else None,
        page_height=page.height,
        text="\n".join(block.lines or ()) if code else block.text or "",
        level=block.level or 0,
        number=int(number[1]) if number else None,
        rows=(*header, *rows),
        header_rows=len(header),
        language=block.lang,
    )


def plain_page(number: int, text: str) -> list[Seen]:
    """A page that the engine lost, as PDFium reads it: one paragraph for each stretch between blank lines."""
    pieces = _PARAGRAPHS.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    return [
        Seen(kind="paragraph", page=number, bbox=None, page_height=0, text=piece) for piece in pieces if piece.strip()
    ]


def is_lost(page: Sequence[Seen], characters: int) -> bool:
    """Whether a page holds materially less than PDFium reads on it."""
    found = sum(
        len(SPACE.sub("", block.text)) + sum(len(SPACE.sub("", cell)) for row in block.rows for cell in row)
        for block in page
    )
    return characters > 0 and found < LEAST_COVERAGE * characters
