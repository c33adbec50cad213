"""What becomes of the pages of a PDF that only their pictures can tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestd.errors import DocumentTooLarge, FileEmpty, IncompleteConversion, NeedsOcr
from ingestd.model.document import Block
from ingestd.ports.converter import ConversionRequest
from ingestd_adapters.ocr_choice import NoOcr
from ingestd_adapters.ocr_engine import OcrEngine
from ingestd_adapters.ocr_pages import OcrPages, read_pages
from ingestd_adapters.pdf_blocks import Seen
from ingestd_adapters.pdf_preflight import PageText, Preflight

OCR = "ocr"
"""Key of a document's provenance: the engine, :data:`NOT_NEEDED`, or that pages were left out for want of one."""
NOT_NEEDED = "not needed"
_LEFT_OUT = "off"
_MORE = 3
"""So many times the characters of a stamp is what stands on a scan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scans:
    """Reads pages from their pictures, or says why not."""

    ocr: OcrEngine | NoOcr
    max_pages: int
    """Files with more such pages are refused."""

    def admitted(self, before: Preflight, name: str) -> tuple[int, ...]:
        """0-based pages to be read from their pictures; none without an engine, where some pages have text.

        Pages that may be stamped scans are among them as long as there are not too many.

        Raises
        ------
        NeedsOcr
            When no page has text and there is no engine.
        DocumentTooLarge
            When there are more than allowed.
        """
        pages = before.for_ocr
        if isinstance(self.ocr, NoOcr):
            if before.characters == 0:
                raise NeedsOcr(f"{name}: none of the {len(before.pages)} pages has a text layer, and {self.ocr.why}")
            return ()
        if len(pages) > self.max_pages:
            raise DocumentTooLarge(
                f"{name} has {len(pages)} pages without text, more than the {self.max_pages} that OCR reads of one file: "
                "split it, or raise converter.max_ocr_pages"
            )
        both = tuple(sorted({*pages, *before.stamped}))
        return both if len(both) <= self.max_pages else pages

    def read(self, request: ConversionRequest, before: Preflight, pages: Sequence[int]) -> OcrPages | None:
        """The pages, read; ``None`` for no pages. Those whose own text says about as much are left to it."""
        if isinstance(self.ocr, NoOcr) or not pages:
            return None
        read = read_pages(request.path, request.name, pages, self.ocr)
        better = {index: seen for index, seen in read.pages.items() if _is_better(seen, before.pages[index])}
        return replace(read, pages=better)

    def provenance(self, before: Preflight, read: OcrPages | None) -> dict[str, str]:
        """How the pages without text were treated, for people."""
        if not before.for_ocr and not before.stamped:
            return {OCR: NOT_NEEDED}
        if read is None or isinstance(self.ocr, NoOcr):
            return {OCR: _LEFT_OUT}
        return {OCR: self.ocr.name, **read.provenance(), **self.ocr.versions()}


def _is_better(seen: Sequence[Seen], page: PageText) -> bool:
    found = sum(len(block.text) + sum(len(cell) for row in block.rows for cell in row) for block in seen)
    return found > _MORE * page.characters or page.characters == 0


def check_anything(read: OcrPages, blocks: Sequence[Block], name: str) -> None:
    """Refuse a document of pictures that gave no text.

    Raises
    ------
    IncompleteConversion
        When there is text, in letters that the engine does not know.
    FileEmpty
        Saying whether something was read without confidence.
    """
    if not any(block.text.strip() for block in blocks):
        if read.unread:
            raise IncompleteConversion(
                f"{name}: OCR does not know the letters on {len(read.unread)} of {len(read.pages)} pages: set "
                'converter.ocr = "tesseract" and converter.ocr_languages, with the data of these languages installed'
            )
        unsure = ", and what it read it was not sure of" if read.dropped_share else ""
        raise FileEmpty(f"{name}: OCR found no text on {len(read.pages)} pages{unsure}")
