"""Pages of a PDF read from their pictures, as blocks of the layout engine's kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ingestd_adapters.ocr_engine import Line, OcrEngine, Picture
from ingestd_adapters.ocr_paragraphs import Paragraph, paragraphs
from ingestd_adapters.ocr_render import PageFrame, page_pictures
from ingestd_adapters.ocr_tables import Cells
from ingestd_adapters.pdf_blocks import Seen

LEAST_CONFIDENCE = 0.5
"""Lines read with less are dropped: specks, stamps, pictures taken for text."""
_LEAST_MEAN = 0.7
"""Pages of a known script were read with a mean of 0.95 to 1.0, Arabic ones with 0.53 to 0.63 (2026-12)."""
_LEAST_FILLED = 0.7
"""Characters for each height of a long line's length. Latin pages had 1.8 to 2.4, Chinese and Japanese ones 1.2; pages of
letters that the engine does not know 0.1 to 0.4, for it passes over them (2026-12)."""
_LONG = 5.0
_ROOM = 20.0
"""Heights of long lines below which a page is too empty to be judged by that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrPages:
    """What stands on the pages that were read from pictures."""

    pages: Mapping[int, tuple[Seen, ...]]
    """By 0-based index; a picture without text has no blocks."""
    confidence: float
    """Mean of the characters kept, from 0 to 1."""
    dropped_share: float
    """Of the characters read, those dropped for want of confidence."""
    turned: Mapping[int, int]
    """Index → degrees by which a page was turned clockwise."""
    unread: tuple[int, ...] = ()
    """Indexes of pages whose letters the engine does not know: they have no blocks."""

    def provenance(self) -> dict[str, str]:
        """Which pages were read so and how well, for people."""
        facts = {
            "pages_by_ocr": ",".join(str(index + 1) for index, seen in sorted(self.pages.items()) if seen),
            "ocr_confidence": f"{self.confidence:.3f}",
            "ocr_dropped_share": f"{self.dropped_share:.3f}",
        }
        if self.turned:
            facts["ocr_turned"] = ",".join(f"{index + 1}:{degrees}" for index, degrees in sorted(self.turned.items()))
        if self.unread:
            facts["ocr_unread"] = ",".join(str(index + 1) for index in self.unread)
        return facts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    frame: PageFrame
    turned: int
    kept: tuple[Line, ...]
    dropped: int
    """Characters."""
    unread: bool
    paragraphs: tuple[Paragraph, ...]


def read_pages(path: Path, name: str, indexes: Sequence[int], engine: OcrEngine) -> OcrPages:
    """Read these pages (0-based) from their pictures.

    Raises
    ------
    CorruptFile
        When a page cannot be drawn.
    AdapterUnavailable
        When the engine cannot be loaded.
    """
    engine.load()
    read = [_read(frame, picture, engine) for frame, picture in page_pictures(path, name, indexes)]
    weights = [(len(line.text), line.confidence) for page in read for line in page.kept]
    kept = sum(length for length, _ in weights)
    dropped = sum(page.dropped for page in read)
    body = _body_height(read)
    return OcrPages(
        pages={page.frame.index: tuple(_seen(page, one, body) for one in page.paragraphs) for page in read},
        confidence=sum(length * confidence for length, confidence in weights) / kept if kept else 0.0,
        dropped_share=dropped / (kept + dropped) if dropped else 0.0,
        turned={page.frame.index: page.turned for page in read if page.turned},
        unread=tuple(page.frame.index for page in read if page.unread),
    )


def _read(frame: PageFrame, picture: Picture, engine: OcrEngine) -> _Page:
    reading = engine.read(picture)
    kept = tuple(line for line in reading.lines if line.text and line.confidence >= LEAST_CONFIDENCE)
    unread = _is_unread(reading.lines, kept)
    if unread:
        kept = ()
    return _Page(
        frame=frame,
        turned=reading.turned,
        kept=kept,
        dropped=sum(len(line.text) for line in reading.lines) - sum(len(line.text) for line in kept),
        unread=unread,
        paragraphs=tuple(paragraphs(kept)),
    )


def _is_unread(lines: Sequence[Line], kept: Sequence[Line]) -> bool:
    """Whether there is text of letters that the engine does not know, of which it makes digits and stops."""
    room = sum(line.length for line in lines if line.length >= _LONG)
    characters = sum(len(line.text) for line in kept)
    confidence = sum(len(line.text) * line.confidence for line in kept)
    return room >= _ROOM and (characters < _LEAST_FILLED * room or confidence < _LEAST_MEAN * characters)


def _body_height(pages: Sequence[_Page]) -> float:
    """Height of the rows that most characters stand in, in points."""
    heights = [
        paragraph.height / page.frame.scale
        for page in pages
        for paragraph in page.paragraphs
        if paragraph.height
        for _ in range(1 + len(paragraph.text) // 20)
    ]
    return median(heights) if heights else 0.0


def _seen(page: _Page, paragraph: Paragraph, body: float) -> Seen:
    corners = [page.frame.on_page(corner, page.turned) for corner in paragraph.corners]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    level = paragraph.level(body * page.frame.scale)
    return Seen(
        kind="table" if paragraph.cells else "heading" if level else "list_item" if paragraph.bullet else "paragraph",
        page=page.frame.index + 1,
        bbox=(
            max(0.0, min(across)),
            max(0.0, min(down)),
            min(page.frame.width, max(across)),
            min(page.frame.height, max(down)),
        ),
        page_height=page.frame.height,
        text="" if paragraph.cells else paragraph.text,
        level=level,
        rows=paragraph.cells,
        header_rows=int(_has_header(paragraph.cells)),
    )


def _has_header(cells: Cells) -> bool:
    """Whether the first row of a table holds no number, and the others do."""
    numbers = [any(character.isdigit() for cell in row for character in cell) for row in cells]
    return len(numbers) > 1 and not numbers[0] and all(numbers[1:])
