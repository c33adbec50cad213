"""PDF files through liteparse: layout by rules, no model, no network."""

import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ingestd.convert.naming import stem
from ingestd.convert.render import render
from ingestd.convert.types import PDF
from ingestd.errors import AdapterUnavailable, IncompleteConversion
from ingestd.model.document import BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter
from ingestd_adapters.liteparse_pages import LEAST_COVERAGE, SPACE, is_lost, parsed, plain_page
from ingestd_adapters.ocr_choice import NoOcr, chosen
from ingestd_adapters.ocr_pages import OcrPages
from ingestd_adapters.ocr_render import DPI, MEGAPIXELS
from ingestd_adapters.ocr_scans import NOT_NEEDED, OCR, Scans, check_anything
from ingestd_adapters.pdf_blocks import pieces_of
from ingestd_adapters.pdf_preflight import Preflight, count_pages, preflight

_STAGE = Stage(name="liteparse", version=1)
_ENGINES = ("liteparse", "pypdfium2")
_READING = {"reading": 1, "dpi": DPI, "megapixels": MEGAPIXELS}
"""How pictures become blocks, whatever the engine: the first is raised whenever that changes."""
_DEFAULT_MAX_PAGES = 5_000
_DEFAULT_MAX_OCR_PAGES = 300
_WORTHLESS_TITLE = re.compile(
    r"^(?:untitled|microsoft word - |.*\.(?:docx?|tex|dvi|indd|pages|qxd|pdf)$)", re.IGNORECASE
)


def liteparse(options: Mapping[str, Any]) -> Converter:
    """Converter of PDF.

    Parameters
    ----------
    options
        ``max_pages``: files with more pages are refused. ``ocr``, ``ocr_languages``: how pages without text are read,
        as :func:`ingestd_adapters.ocr_choice.chosen` takes them; off without. ``max_ocr_pages``: files with more such
        pages are refused.

    Raises
    ------
    AdapterUnavailable
        When liteparse or pypdfium2 is not installed, or the OCR engine that is asked for.
    """
    for module in _ENGINES:
        if importlib.util.find_spec(module) is None:
            raise AdapterUnavailable(f"{module} is not installed: pip install ingestd brings it")
    ocr = chosen(str(options.get("ocr", "off")), tuple(options.get("ocr_languages", ())))
    return _LiteparseConverter(
        max_pages=int(options.get("max_pages", _DEFAULT_MAX_PAGES)),
        stage=_STAGE if isinstance(ocr, NoOcr) else replace(_STAGE, options={"ocr": {**_READING, **ocr.identity}}),
        scans=Scans(ocr=ocr, max_pages=int(options.get("max_ocr_pages", _DEFAULT_MAX_OCR_PAGES))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _LiteparseConverter:
    max_pages: int
    stage: Stage
    scans: Scans
    looked: dict[tuple[str, int, int], Preflight] = field(default_factory=dict[tuple[str, int, int], Preflight])
    """What was seen of the file that comes next."""
    plain_stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset({PDF})
    in_process: bool = False

    def load(self) -> None:
        """Import the engines."""
        for module in _ENGINES:
            importlib.import_module(module)

    def loaded(self) -> int:
        """Engines in memory."""
        return 1 if isinstance(self.scans.ocr, NoOcr) or not self.scans.ocr.is_loaded() else 2

    def count_pages(self, request: ConversionRequest) -> int:
        """Pages of the file, which decide its deadline."""
        return count_pages(request.path, request.name, self.max_pages)

    def count_ocr_pages(self, request: ConversionRequest) -> int:
        """Pages that are read from their pictures, which take longer."""
        if isinstance(self.scans.ocr, NoOcr):
            return 0
        before = self._look(request)
        self.looked[_key(request)] = before
        return len(self.scans.admitted(before, request.name))

    def is_plain(self, document: Document) -> bool:
        """Whether OCR has no say in the document: without any it would be the same."""
        return document.provenance.get(OCR) == NOT_NEEDED

    def convert(self, request: ConversionRequest) -> Document:
        before = self._look(request)
        scans = self.scans.admitted(before, request.name)
        pages = parsed(request, before)
        read = self.scans.read(request, before, scans)
        for index, found in read.pages.items() if read else ():
            pages[index] = list(found)
        by_pdfium = [index for index, page in enumerate(before.pages) if is_lost(pages[index], page.characters)]
        for index in by_pdfium:
            pages[index] = plain_page(index + 1, before.pages[index].text)
        seen = [block for page in pages for block in page]
        markdown, blocks = render(pieces_of(seen, before.outline, len(pages)))
        _check_coverage(markdown, before, request.name)
        if read and not before.characters:
            check_anything(read, blocks, request.name)
        heading = next((block.text for block in blocks if block.type is BlockType.TITLE), "")
        stated = before.properties.get("title", "")
        title = heading or ("" if _WORTHLESS_TITLE.match(stated) else stated)
        return Document(
            title=title or stem(request.name),
            markdown=markdown,
            blocks=blocks,
            meta={**before.properties, **_pages_without_text(before, read)},
            page_count=len(pages),
            converter="liteparse/1",
            provenance={
                **_provenance(by_pdfium, "heading" if heading else "meta" if title else "name"),
                **self.scans.provenance(before, read),
            },
        )

    def _look(self, request: ConversionRequest) -> Preflight:
        known = self.looked.pop(_key(request), None)
        self.looked.clear()
        return known or preflight(request.path, request.name, self.max_pages)


def _key(request: ConversionRequest) -> tuple[str, int, int]:
    stat = request.path.stat()
    return str(request.path), stat.st_mtime_ns, stat.st_ino


def _check_coverage(markdown: str, before: Preflight, name: str) -> None:
    found = len(SPACE.sub("", markdown))
    if found < LEAST_COVERAGE * before.characters:
        raise IncompleteConversion(
            f"{name}: {found} of {before.characters} characters came through, "
            f"less than the {LEAST_COVERAGE:.0%} that count as a document"
        )


def _pages_without_text(before: Preflight, read: OcrPages | None) -> dict[str, Any]:
    """Pictures of pages among pages of text: said, so that nobody takes the document for whole."""
    found = {index for index, seen in read.pages.items() if seen} if read else set[int]()
    missing = [
        index + 1
        for index, page in enumerate(before.pages)
        if page.characters == 0 and page.pictures and index not in found
    ]
    return {"pages_without_text": missing[:1_000]} if missing else {}


def _provenance(by_pdfium: Sequence[int], title: str) -> dict[str, str]:
    facts = {"title": title, **{name: importlib.metadata.version(name) for name in _ENGINES}}
    if by_pdfium:
        facts["pages_by_pdfium"] = ",".join(str(index + 1) for index in by_pdfium[:1_000])
    return facts
