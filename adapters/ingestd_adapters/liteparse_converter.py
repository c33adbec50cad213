"""PDF files through liteparse: layout by rules, no model, no network."""

import importlib
import importlib.metadata
import importlib.util
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestd.convert.naming import stem
from ingestd.convert.render import render
from ingestd.convert.types import PDF
from ingestd.errors import AdapterUnavailable, CorruptFile, IncompleteConversion
from ingestd.model.document import BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter
from ingestd_adapters.pdf_blocks import Seen, pieces_of
from ingestd_adapters.pdf_preflight import Preflight, count_pages, preflight

_STAGE = Stage(name="liteparse", version=1)
_ENGINES = ("liteparse", "pypdfium2")
_DEFAULT_MAX_PAGES = 5_000
_LEAST_COVERAGE = 0.5
"""Share of PDFium's characters below which a page, or a document, counts as lost."""
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"\(?(\d{1,9})[.)]")
_PARAGRAPHS = re.compile(r"\n\s*\n")
_WORTHLESS_TITLE = re.compile(
    r"^(?:untitled|microsoft word - |.*\.(?:docx?|tex|dvi|indd|pages|qxd|pdf)$)", re.IGNORECASE
)


def liteparse(options: Mapping[str, Any]) -> Converter:
    """Converter of PDF.

    Parameters
    ----------
    options
        ``max_pages``: files with more pages are refused.

    Raises
    ------
    AdapterUnavailable
        When liteparse or pypdfium2 is not installed.
    """
    for module in _ENGINES:
        if importlib.util.find_spec(module) is None:
            raise AdapterUnavailable(f"{module} is not installed: pip install ingestd brings it")
    return _LiteparseConverter(max_pages=int(options.get("max_pages", _DEFAULT_MAX_PAGES)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _LiteparseConverter:
    max_pages: int
    stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset({PDF})
    in_process: bool = False

    def load(self) -> None:
        """Import the engines."""
        for module in _ENGINES:
            importlib.import_module(module)

    def count_pages(self, request: ConversionRequest) -> int:
        """Pages of the file, which decide its deadline."""
        return count_pages(request.path, request.name, self.max_pages)

    def convert(self, request: ConversionRequest) -> Document:
        before = preflight(request.path, request.name, self.max_pages)
        pages = _parsed(request, before)
        by_pdfium = [index for index, page in enumerate(before.pages) if _lost(pages[index], page.characters)]
        for index in by_pdfium:
            pages[index] = _plain_page(index + 1, before.pages[index].text)
        seen = [block for page in pages for block in page]
        markdown, blocks = render(pieces_of(seen, before.outline, len(pages)))
        _check_coverage(markdown, before, request.name)
        heading = next((block.text for block in blocks if block.type is BlockType.TITLE), "")
        stated = before.properties.get("title", "")
        title = heading or ("" if _WORTHLESS_TITLE.match(stated) else stated)
        return Document(
            title=title or stem(request.name),
            markdown=markdown,
            blocks=blocks,
            meta={**before.properties, **_pages_without_text(before)},
            page_count=len(pages),
            converter="liteparse/1",
            provenance=_provenance(by_pdfium, "heading" if heading else "meta" if title else "name"),
        )


def _parsed(request: ConversionRequest, before: Preflight) -> list[list[Seen]]:
    """Blocks of each page; pages that come out empty because they are rotated are parsed again upright."""
    pages = _parse(request, len(before.pages), {})
    turned = {
        index + 1: page.rotation
        for index, page in enumerate(before.pages)
        if page.rotation and _lost(pages[index], page.characters)
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


def _plain_page(number: int, text: str) -> list[Seen]:
    """A page that the engine lost, as PDFium reads it: one paragraph for each stretch between blank lines."""
    pieces = _PARAGRAPHS.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    return [
        Seen(kind="paragraph", page=number, bbox=None, page_height=0, text=piece) for piece in pieces if piece.strip()
    ]


def _lost(page: Sequence[Seen], characters: int) -> bool:
    """Whether a page holds materially less than PDFium reads on it."""
    found = sum(
        len(_SPACE.sub("", block.text)) + sum(len(_SPACE.sub("", cell)) for row in block.rows for cell in row)
        for block in page
    )
    return characters > 0 and found < _LEAST_COVERAGE * characters


def _check_coverage(markdown: str, before: Preflight, name: str) -> None:
    found = len(_SPACE.sub("", markdown))
    if found < _LEAST_COVERAGE * before.characters:
        raise IncompleteConversion(
            f"{name}: {found} of {before.characters} characters came through, "
            f"less than the {_LEAST_COVERAGE:.0%} that count as a document"
        )


def _pages_without_text(before: Preflight) -> dict[str, Any]:
    """Pictures of pages among pages of text: said, so that nobody takes the document for whole."""
    missing = [index + 1 for index, page in enumerate(before.pages) if page.characters == 0 and page.pictures]
    return {"pages_without_text": missing[:1_000]} if missing else {}


def _provenance(by_pdfium: Sequence[int], title: str) -> dict[str, str]:
    facts = {"title": title, **{name: importlib.metadata.version(name) for name in _ENGINES}}
    if by_pdfium:
        facts["pages_by_pdfium"] = ",".join(str(index + 1) for index in by_pdfium[:1_000])
    return facts
