"""Real scans through the real engine."""

from collections.abc import Iterator

import pytest

from ingestd.convert import Conversions
from ingestd.convert.types import PDF
from ingestd.errors import DocumentTooLarge, FileEmpty, NeedsOcr
from ingestd.model.document import BlockType, Document
from ingestd.model.identity import Fingerprint
from tests.unit.convert.conftest import Pdf, PdfPage, Workshop, prose
from tests.unit.convert.scans import WORDS, drawn, error_rate, scan, skewed, together, turned

pytest.importorskip("rapidocr")

BORN = "These words were typed into the page and need no reading by any engine."
ON_ITS_SIDE = "The second scan lies on its side, as pages do that were fed into the machine the wrong way round."


class Reader(Workshop):
    """One process for all scans: the models are loaded once."""

    def read(self, name: str, data: bytes) -> Document:
        if not self.made:
            self.conversions(ocr="rapidocr")
        return self.run(self.made[0], name, data).document


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    made = Reader(tmp_path_factory.mktemp("shared"))
    yield made
    for conversions in made.made:
        conversions.close()


def test_pages_without_text_are_read_whichever_way_they_lie_and_pages_with_text_are_not(shared: Reader) -> None:
    born = Pdf([PdfPage(prose(100, BORN))]).render()
    askew = skewed(drawn(PdfPage([(60, 60, 22, "Ice on the sound"), *prose(110, WORDS, columns=60)])), 2)
    sideways = turned(drawn(PdfPage(prose(60, ON_ITS_SIDE, columns=60)), height=140), 270)
    document = shared.read("mixed.pdf", together(born, scan(askew, sideways)))
    facts = document.provenance
    assert (facts["ocr"], facts["pages_by_ocr"], facts["ocr_turned"]) == ("rapidocr", "2,3", "3:90")
    assert float(facts["ocr_confidence"]) > 0.9
    assert "pages_without_text" not in document.meta
    text = {page: " ".join(block.text for block in document.blocks if block.page == page) for page in (1, 2, 3)}
    assert text[1] == BORN
    assert error_rate(text[2], f"Ice on the sound {WORDS}") <= 0.05
    assert error_rate(text[3], ON_ITS_SIDE) <= 0.05
    heading = next(block for block in document.blocks if block.type is BlockType.SECTION)
    assert (heading.text, heading.page) == ("Ice on the sound", 2)
    for block in document.blocks:
        assert block.bbox is not None
        assert 0 <= block.bbox[0] < block.bbox[2] <= 600
        assert 0 <= block.bbox[1] < block.bbox[3] <= 850
    # On the page as it is shown, the text runs down the middle.
    (lying,) = (block.bbox for block in document.blocks if block.page == 3)
    assert lying is not None
    assert lying[3] - lying[1] > lying[2] - lying[0]


def test_a_document_that_needs_no_ocr_is_converted_once_whatever_reads_the_others(workshop: Workshop) -> None:
    data = Pdf([PdfPage(prose(100, BORN))]).render()
    without, reads = workshop.conversions(ocr="off"), workshop.conversions(ocr="rapidocr")
    assert without.stage_for(PDF).digest != reads.stage_for(PDF).digest
    first = workshop.run(without, "b.pdf", data)
    again = workshop.run(reads, "b.pdf", data)
    assert (first.reused, again.reused) == (False, True)
    assert again.document == first.document
    other = Pdf([PdfPage(prose(100, WORDS))]).render()
    assert not workshop.run(reads, "o.pdf", other).reused
    assert is_cached(without, other)
    assert workshop.run(without, "o.pdf", other).reused


def is_cached(conversions: Conversions, data: bytes) -> bool:
    import hashlib

    return conversions.is_cached(Fingerprint(hashlib.sha256(data).hexdigest()), PDF)


def test_a_document_that_lost_pages_without_ocr_is_converted_again_with_it(workshop: Workshop) -> None:
    data = Pdf([PdfPage(prose(100, BORN)), PdfPage(picture=True)]).render()
    without, reads = workshop.conversions(ocr="off"), workshop.conversions(ocr="rapidocr")
    assert workshop.run(without, "m.pdf", data).document.provenance["ocr"] == "off"
    assert not is_cached(reads, data)


def test_too_many_scanned_pages_are_refused_before_the_engine_is_loaded(workshop: Workshop) -> None:
    data = Pdf([PdfPage(picture=True)] * 3).render()
    with pytest.raises(DocumentTooLarge, match=r"s\.pdf has 3 pages without text, more than the 2"):
        workshop.document("s.pdf", data, max_ocr_pages=2)
    with pytest.raises(NeedsOcr, match=r'OCR is off: set converter\.ocr = "auto"'):
        workshop.document("s.pdf", data, ocr="off")


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_whole_page_is_read_from_each_side(shared: Reader, degrees: int) -> None:
    page = drawn(
        PdfPage([(60, 60, 22, "Ice on the sound"), *prose(110, f"{WORDS} {ON_ITS_SIDE}")]), width=595, height=842
    )
    document = shared.read("t.pdf", scan(turned(page, degrees)))
    assert document.provenance["ocr_turned"] == f"1:{360 - degrees}"
    assert error_rate(document.markdown, f"Ice on the sound {WORDS} {ON_ITS_SIDE}") <= 0.03


@pytest.mark.slow
def test_the_turn_that_a_page_states_is_no_turn_of_the_scan(shared: Reader) -> None:
    page = drawn(PdfPage(prose(60, WORDS, columns=60)), height=160)
    data = scan(turned(page, 270)).replace(b"/Type /Page\n", b"/Type /Page\n/Rotate 90\n")
    assert b"/Rotate 90" in data
    document = shared.read("r.pdf", data)
    assert "ocr_turned" not in document.provenance
    assert error_rate(document.markdown, WORDS) <= 0.05


@pytest.mark.slow
def test_two_scanned_columns_are_read_one_after_the_other(shared: Reader) -> None:
    left, right = f"Left column. {WORDS} {WORDS}", f"Right column. {ON_ITS_SIDE} {WORDS}"
    page = PdfPage([*prose(100, left, left=50, columns=42), *prose(100, right, left=320, columns=42)])
    document = shared.read("c.pdf", scan(drawn(page, width=595, height=400)))
    assert error_rate(document.markdown, f"{left} {right}") <= 0.05


@pytest.mark.slow
def test_a_hostile_page_ends_within_its_limits(shared: Reader) -> None:
    huge = Pdf([PdfPage(picture=True)]).render().replace(b"[0 0 595 842]", b"[0 0 14400000 14400000]")
    with pytest.raises(FileEmpty, match=r"h\.pdf: OCR found no text on 1 pages"):
        shared.read("h.pdf", huge)
