"""Pictures of pages: bounded in pixels, placed back on the page, turned upright."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestd.errors import DocumentTooLarge, FileEmpty, IncompleteConversion, NeedsOcr
from ingestd.ports.converter import ConversionRequest
from ingestd_adapters.ocr_choice import NoOcr
from ingestd_adapters.ocr_engine import Line, Reading
from ingestd_adapters.ocr_pages import read_pages
from ingestd_adapters.ocr_render import DPI, MEGAPIXELS, PageFrame, page_pictures, scale_of
from ingestd_adapters.ocr_scans import Scans, check_anything
from ingestd_adapters.ocr_turn import upright
from ingestd_adapters.pdf_preflight import preflight
from tests.unit.convert.conftest import Pdf, PdfPage
from tests.unit.convert.scans import FakeEngine

sides = st.floats(min_value=1, max_value=14_400_000)


@given(sides, sides)
def test_a_page_of_any_size_gets_a_bounded_picture(width: float, height: float) -> None:
    scale = scale_of(width, height)
    columns, rows = math.ceil(width * scale), math.ceil(height * scale)
    assert columns * rows <= MEGAPIXELS * 1e6 + columns + rows
    assert max(columns, rows) <= 16_000
    assert scale <= DPI / 72


def test_a_huge_page_is_drawn_small(tmp_path: Path) -> None:
    data = (
        Pdf([PdfPage(picture=True)]).render().replace(b"/MediaBox [0 0 595 842]", b"/MediaBox [0 0 14400000 14400000]")
    )
    file = tmp_path / "huge.pdf"
    file.write_bytes(data)
    ((frame, picture),) = page_pictures(file, "huge.pdf", [0])
    assert picture.shape[0] * picture.shape[1] <= MEGAPIXELS * 1e6
    assert frame.rows == picture.shape[0]


def test_the_turn_of_a_page_is_part_of_its_picture(tmp_path: Path) -> None:
    file = tmp_path / "r.pdf"
    file.write_bytes(Pdf([PdfPage([(70, 100, 20, "Text")], rotate=90)]).render())
    ((frame, picture),) = page_pictures(file, "r.pdf", [0])
    assert (frame.width, frame.height) == (842, 595)
    assert picture.shape[1] > picture.shape[0]


@given(st.sampled_from([0, 90, 180, 270]), st.integers(0, 39), st.integers(0, 59))
def test_places_on_a_turned_picture_are_found_on_the_page(degrees: int, row: int, column: int) -> None:
    picture = np.zeros((40, 60))
    picture[row, column] = 1
    ((y, x),) = np.argwhere(np.rot90(picture, -degrees // 90))
    frame = PageFrame(index=0, width=30, height=20, columns=60, rows=40)
    found = frame.on_page((x + 0.5, y + 0.5), degrees)
    assert found == pytest.approx(((column + 0.5) / 2, (row + 0.5) / 2))


def quad(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float32)


FLAT = [quad(10, 40 * row, 400, 40 * row + 20) for row in range(10)]
TALL = [quad(40 * row, 10, 40 * row + 20, 400) for row in range(10)]


@pytest.mark.parametrize(
    ("quads", "right_way", "degrees"), [(FLAT, 0, 0), (FLAT, 180, 180), (TALL, 0, 270), (TALL, 180, 90)]
)
def test_shape_tells_the_side_and_reading_tells_up_from_down(quads: list, right_way: int, degrees: int) -> None:
    asked: list[int] = []

    def confidence(_quad: np.ndarray, turn: int) -> float:
        asked.append(turn)
        return 0.97 if turn == right_way else 0.6

    assert upright(quads, confidence) == degrees
    assert len(asked) <= 10
    assert right_way or 180 not in asked


def test_a_picture_without_long_lines_stays_as_it_is() -> None:
    assert upright([quad(0, 0, 20, 20)], lambda _quad, _turn: 0.1) == 0


def read(text: str, confidence: float, top: float = 100, width: float = 0) -> Line:
    right = 50 + (width or 14 * len(text))
    return Line(text=text, confidence=confidence, corners=((50, top), (right, top), (right, top + 30), (50, top + 30)))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    file = tmp_path / "p.pdf"
    file.write_bytes(Pdf([PdfPage(picture=True)] * 3).render())
    return file


def test_what_was_read_without_confidence_is_dropped_and_its_share_is_said(pictures: Path) -> None:
    sure, unsure = read("Twelve characters and more", 0.9), read("speck", 0.2, 300)
    found = read_pages(pictures, "p.pdf", [1], FakeEngine([Reading(lines=(sure, unsure), turned=0)]))
    assert [(seen.text, seen.page) for seen in found.pages[1]] == [(sure.text, 2)]
    assert found.provenance() == {"pages_by_ocr": "2", "ocr_confidence": "0.900", "ocr_dropped_share": "0.161"}


def test_more_scanned_pages_than_allowed_are_refused_before_any_is_read(pictures: Path) -> None:
    engine = FakeEngine([])
    scans = Scans(ocr=engine, max_pages=2)
    with pytest.raises(DocumentTooLarge, match=r"3 pages without text, more than the 2 .* converter\.max_ocr_pages"):
        scans.admitted(preflight(pictures, "p.pdf", 10), "p.pdf")
    assert not engine.seen


def test_without_an_engine_the_reason_names_the_way_out(pictures: Path) -> None:
    scans = Scans(ocr=NoOcr(why="no OCR engine is installed: pip install it"), max_pages=2)
    with pytest.raises(NeedsOcr, match="none of the 3 pages has a text layer, and no OCR engine is installed: pip"):
        scans.admitted(preflight(pictures, "p.pdf", 10), "p.pdf")


def test_pictures_of_no_text_make_no_document(pictures: Path) -> None:
    scans = Scans(ocr=FakeEngine([Reading(lines=(read("speck", 0.1),), turned=0)] * 3), max_pages=9)
    request = ConversionRequest(path=pictures, name="p.pdf", mime="application/pdf")
    found = scans.read(request, preflight(pictures, "p.pdf", 10), [0, 1, 2])
    assert found is not None
    with pytest.raises(FileEmpty, match="OCR found no text on 3 pages, and what it read it was not sure of"):
        check_anything(found, [], "p.pdf")


def test_a_page_of_letters_that_the_engine_does_not_know_counts_as_unread(pictures: Path) -> None:
    # It passes over such letters: long lines, and hardly a character in them.
    strange = Reading(
        lines=tuple(read(text, 0.95, 100 + 40 * row, 750) for row, text in enumerate(("2020.", "", "1:", ""))), turned=0
    )
    known = Reading(lines=tuple(read("known letters " * 4, 0.95, 100 + 40 * row) for row in range(4)), turned=0)
    found = read_pages(pictures, "p.pdf", [0, 1], FakeEngine([strange, known]))
    assert (found.unread, found.pages[0]) == ((0,), ())
    assert found.provenance()["pages_by_ocr"] == "2"
    assert found.provenance()["ocr_unread"] == "1"
    alone = read_pages(pictures, "p.pdf", [0], FakeEngine([strange]))
    with pytest.raises(IncompleteConversion, match=r"the letters on 1 of 1 pages: set converter\.ocr"):
        check_anything(alone, [], "p.pdf")


def test_a_few_words_beside_a_picture_are_no_reason_to_doubt(pictures: Path) -> None:
    texture = tuple(
        Line(text="", confidence=0.0, corners=((x, 9), (x + 60, 9), (x + 60, 40), (x, 40))) for x in range(99)
    )
    found = read_pages(
        pictures, "p.pdf", [0], FakeEngine([Reading(lines=(*texture, read("A caption " * 5, 0.9)), turned=0)])
    )
    assert found.unread == ()
    assert [seen.text for seen in found.pages[0]] == [("A caption " * 5)]


class Stamped(PdfPage):
    """A picture over the whole page, and a line of text on it."""

    def content(self) -> bytes:
        return b"q 595 0 0 842 0 0 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\xff\xff\x00 EI Q\n" + super().content()


def test_a_stamped_scan_is_read_and_a_titled_picture_keeps_its_text(tmp_path: Path) -> None:
    file = tmp_path / "s.pdf"
    file.write_bytes(Pdf([Stamped([(70, 800, 10, "ARCHIVE 0042")]), Stamped([(70, 800, 10, "Our new boat")])]).render())
    before = preflight(file, "s.pdf", 10)
    assert (before.for_ocr, before.stamped) == ((), (0, 1))
    lines = tuple(read(f"What stands on row {row} of the scan", 0.9, 100 + 40 * row) for row in range(4))
    engine = FakeEngine([Reading(lines=lines, turned=0), Reading(lines=(read("Our new boat", 0.9),), turned=0)])
    scans = Scans(ocr=engine, max_pages=2)
    assert scans.admitted(before, "s.pdf") == (0, 1)
    found = scans.read(ConversionRequest(path=file, name="s.pdf", mime="application/pdf"), before, [0, 1])
    assert found is not None
    assert list(found.pages) == [0]
    # They never make a file too long for OCR.
    assert Scans(ocr=engine, max_pages=1).admitted(before, "s.pdf") == ()
