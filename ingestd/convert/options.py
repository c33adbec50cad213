"""Settings of the conversion."""

from dataclasses import dataclass

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """What a user may set for converting; the limits are no part of a recipe, the choice of adapters is."""

    pdf: str = "auto"
    """Converter of PDF by its registered name; ``auto`` takes the first in :mod:`ingestd.convert.choice`."""
    office: str = "auto"
    """Converter of DOCX, PPTX, XLSX, OpenDocument, EPUB, mail and CSV; ``auto`` as above."""
    ocr: str = "auto"
    """What reads pages without a text layer: ``auto``, ``off``, ``on``, or an engine by name."""
    ocr_languages: tuple[str, ...] = ()
    """Of such pages, as the engine calls them; empty leaves it to the engine."""
    max_ocr_pages: int = 300
    """PDFs of more such pages are refused."""
    timeout_seconds: float = 60.0
    """Deadline of one document; each page adds ``page_seconds``. The slowest of 118 real files took 6 s."""
    page_seconds: float = 2.0
    ocr_page_seconds: float = 60.0
    """What each page that is read from its picture adds, whatever ``longest_seconds`` says: dense pages took 4 to 15 CPU
    seconds, and up to 63 on two cores that were busy seven times over (2026-12)."""
    longest_seconds: float = 900.0
    """The deadline never exceeds this, whatever the page count."""
    memory_bytes: int = 4 * 1024 * _MB
    """Address space of a converter's process; a hostile PDF of 2 MB took 3.1 GB without it."""
    max_pages: int = 5_000
    """PDFs of more pages are refused."""
    text_bytes: int = 20 * _MB
    """Largest Markdown, text or HTML file."""
    office_bytes: int = 100 * _MB
    """Largest office file, mail or book."""
    pdf_bytes: int = 500 * _MB
    """Largest PDF."""
    html_depth: int = 1_000
    """Deepest nesting of HTML blocks."""
    workers_recycled_after: int = 100
    """Documents after which a converter's process is replaced, whatever its memory."""

    def size_limit(self, mime: str) -> int:
        """Largest admitted file of the type, in bytes."""
        if mime == "application/pdf":
            return self.pdf_bytes
        return self.text_bytes if mime.startswith("text/") else self.office_bytes

    def deadline_seconds(self, pages: int, ocr_pages: int = 0) -> float:
        """Wall-clock deadline of one document; 0 pages where the format has none.

        Parameters
        ----------
        pages
            All of them.
        ocr_pages
            Those among them that are read from their pictures.
        """
        plain = min(self.timeout_seconds + self.page_seconds * pages, max(self.longest_seconds, self.timeout_seconds))
        return plain + self.ocr_page_seconds * ocr_pages
