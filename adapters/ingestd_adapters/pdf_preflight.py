"""What PDFium says of a PDF before it is converted: whether it opens, its pages, text layer and outline."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ingestd.errors import CorruptFile, DocumentTooLarge, FileEmpty, PdfEncrypted

_PASSWORD = 4
"""FPDF_ERR_PASSWORD."""
_HANDLER = 5
"""FPDF_ERR_SECURITY: an encryption that PDFium does not know."""
_MAX_OUTLINE = 5_000
_SPACE = re.compile(r"\s+")
_NO_CHARACTER = re.compile("[\ufffd\ufffe\uffff\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_LETTERS = 30
"""So many shapes may be letters: some programs draw text as outlines. A frame or a logo has fewer."""
_STAMP = 100
"""Characters of a stamp at the most."""
_COVERED = 0.8
_MOST_PICTURES = 20
_GARBLED_SHARE = 0.3
"""A page with a larger share of characters without a meaning has no text layer worth the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """One page, as PDFium reads it."""

    text: str
    characters: int
    """Characters that are no white space; 0 where they have no meaning."""
    rotation: int
    """Degrees of ``/Rotate``."""
    pictures: bool
    shapes: bool
    """So many lines and areas that they may be letters; false where there is text, or a picture."""
    stamped: bool = False
    """A picture covers the page, and its few characters may be a stamp on a scan, or a title on a slide."""

    @property
    def needs_ocr(self) -> bool:
        """Whether only its picture says what stands on it: it has no text, or text whose characters mean nothing."""
        return self.characters == 0 and (self.pictures or self.shapes or bool(self.text.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """One bookmark."""

    title: str
    level: int
    """1 is the outermost."""
    page: int
    """1-based."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """All that is known of a PDF before it is converted."""

    pages: tuple[PageText, ...]
    outline: tuple[OutlineEntry, ...]
    properties: Mapping[str, str]
    """Title, authors, subject, keywords and dates, those that are stated."""

    @property
    def characters(self) -> int:
        """Characters with a meaning on all pages."""
        return sum(page.characters for page in self.pages)

    @property
    def for_ocr(self) -> tuple[int, ...]:
        """0-based pages that only their pictures can tell."""
        return tuple(index for index, page in enumerate(self.pages) if page.needs_ocr)

    @property
    def stamped(self) -> tuple[int, ...]:
        """0-based pages whose pictures may tell more than their text."""
        return tuple(index for index, page in enumerate(self.pages) if page.stamped)


def count_pages(path: Path, name: str, max_pages: int) -> int:
    """Pages of the PDF.

    Raises
    ------
    PdfEncrypted, CorruptFile, FileEmpty, DocumentTooLarge
        When it needs a password, does not open, has no pages, or has more than ``max_pages``.
    """
    with _opened(path, name) as document:
        return _checked_count(document, name, max_pages)


def preflight(path: Path, name: str, max_pages: int) -> Preflight:
    """Look at every page.

    Raises
    ------
    PdfEncrypted, CorruptFile, FileEmpty, DocumentTooLarge
        As :func:`count_pages`; also when no page has text or pictures.
    """
    with _opened(path, name) as document:
        count = _checked_count(document, name, max_pages)
        pages = tuple(_page(document, index) for index in range(count))
        found = Preflight(pages=pages, outline=_outline(document), properties=_properties(document))
    if found.characters == 0 and not found.for_ocr:
        raise FileEmpty(f"{name}: its {count} pages hold no text")
    return found


def _engine() -> Any:
    return importlib.import_module("pypdfium2")


def _opened(path: Path, name: str) -> Any:
    pypdfium2 = _engine()

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in (_PASSWORD, _HANDLER):
            raise PdfEncrypted(f"{name} needs a password: save a copy without one") from error
        raise CorruptFile(f"{name} cannot be opened as PDF ({error}): it is truncated or damaged") from error


def _checked_count(document: Any, name: str, max_pages: int) -> int:
    count = len(document)
    if count == 0:
        raise FileEmpty(f"{name} has no pages")
    if count > max_pages:
        raise DocumentTooLarge(
            f"{name} has {count} pages, more than the {max_pages} allowed: split it, or raise converter.max_pages"
        )
    return count


def _page(document: Any, index: int) -> PageText:
    pypdfium2 = _engine()

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        # One broken page is no reason to lose the others; it counts as a page without text.
        return PageText(text="", characters=0, rotation=0, pictures=False, shapes=False)
    textpage = page.get_textpage()
    text = textpage.get_text_range()
    bare = _SPACE.sub("", text)
    garbled = len(_NO_CHARACTER.findall(bare))
    characters = 0 if garbled > _GARBLED_SHARE * len(bare) else len(bare)
    pictures = not characters and _holds(page, pypdfium2.raw.FPDF_PAGEOBJ_IMAGE, 1)
    found = PageText(
        text=text,
        characters=characters,
        rotation=page.get_rotation(),
        pictures=pictures,
        stamped=0 < characters <= _STAMP and _is_covered(page),
        shapes=not characters and not pictures and _holds(page, pypdfium2.raw.FPDF_PAGEOBJ_PATH, _LETTERS),
    )
    textpage.close()
    page.close()
    return found


def _holds(page: Any, kind: int, count: int) -> bool:
    """Whether the page holds so many objects of the kind."""
    return sum(1 for _ in islice(page.get_objects(filter=[kind], max_depth=3), count)) == count


def _is_covered(page: Any) -> bool:
    """Whether one picture covers nearly all of the page."""
    raw = _engine().raw
    width, height = page.get_size()
    for picture in islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=1), _MOST_PICTURES):
        left, bottom, right, top = picture.get_bounds()
        if (right - left) * (top - bottom) >= _COVERED * width * height:
            return True
    return False


def _outline(document: Any) -> tuple[OutlineEntry, ...]:
    pypdfium2 = _engine()

    entries: list[OutlineEntry] = []
    try:
        for bookmark in document.get_toc(max_depth=8):
            target = bookmark.get_dest()
            index = target.get_index() if target else None
            title = " ".join(bookmark.get_title().split())
            if index is not None and title:
                entries.append(OutlineEntry(title=title, level=bookmark.level + 1, page=index + 1))
            if len(entries) >= _MAX_OUTLINE:
                break
    except pypdfium2.PdfiumError:
        return ()
    return tuple(entries)


def _properties(document: Any) -> dict[str, str]:
    stated: dict[str, str] = document.get_metadata_dict(skip_empty=True)
    names = {
        "Title": "title",
        "Author": "authors",
        "Subject": "description",
        "Keywords": "keywords",
        "CreationDate": "date",
        "ModDate": "modified",
    }
    values = {ours: _date(stated[theirs].strip()) for theirs, ours in names.items() if theirs in stated}
    return {key: value for key, value in values.items() if value}


def _date(text: str) -> str:
    """ISO 8601 of a PDF date; any other text as it is."""
    found = re.match(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?", text)
    if not found:
        return text
    year, month, day, hour, minute, second = (part or "" for part in found.groups())
    date = "-".join(filter(None, (year, month, day)))
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}" if hour else date
