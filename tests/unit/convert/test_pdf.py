import subprocess
import sys

import pytest

from ingestd.errors import CorruptFile, DocumentTooLarge, FileEmpty, NeedsOcr, PdfEncrypted
from ingestd.model.document import BlockType

WORDS = (
    "The river carries gravel past the mill and leaves it where the water slows down. Each spring the bank moves a "
    "little, and each autumn someone measures how far it has moved since the last high water."
)


@pytest.fixture
def report(pdf_type, page_type, wrapped) -> bytes:
    """Three pages with a running header, page numbers, numbered headings and a paragraph cut by a page."""
    edge = [[(70, 40, 9, "River survey"), (290, 815, 9, f"Page {number}")] for number in (1, 2, 3)]
    first = [(70, 100, 20, "Moving gravel"), (70, 150, 14, "1 Banks"), *wrapped(180, WORDS)]
    second = [(70, 100, 14, "1.1 Left bank"), *wrapped(130, WORDS + " It is measured with")]
    third = [*wrapped(100, "a long rope by two people. " + WORDS), (70, 300, 14, "2 Floods"), *wrapped(330, WORDS)]
    pages = [page_type([*top, *body]) for top, body in zip(edge, (first, second, third), strict=True)]
    return pdf_type(pages, info="/Title (Stated title) /Author (Ann) /CreationDate (D:20260102030405Z)").render()


def test_a_report_comes_through_with_levels_pages_and_whole_paragraphs(workshop, report: bytes, outlined) -> None:
    document = workshop.document("r.pdf", report)
    headings = [entry for entry in outlined(document.blocks) if entry[2]]
    assert headings == [
        ("title", "Moving gravel", 1),
        ("section", "1 Banks", 2),
        ("section", "1.1 Left bank", 3),
        ("section", "2 Floods", 2),
    ]
    paragraphs = [block for block in document.blocks if block.type is BlockType.PARAGRAPH]
    assert [block.page for block in paragraphs] == [1, 2, 3, 3]
    assert paragraphs[1].text == f"{WORDS} It is measured with a long rope by two people."
    assert document.page_count == 3
    assert document.title == "Moving gravel"
    assert dict(document.meta) == {"title": "Stated title", "authors": "Ann", "date": "2026-01-02T03:04:05"}


def test_running_headers_and_page_numbers_are_furniture(workshop, report: bytes) -> None:
    document = workshop.document("r.pdf", report)
    furniture = [(block.text, block.page) for block in document.blocks if block.type is BlockType.FURNITURE]
    assert sorted(furniture) == sorted(
        [("River survey", page) for page in (1, 2, 3)] + [(f"Page {page}", page) for page in (1, 2, 3)]
    )


def test_boxes_lie_on_the_page(workshop, report: bytes) -> None:
    document = workshop.document("r.pdf", report)
    for block in document.blocks:
        assert block.bbox is not None
        left, top, right, bottom = block.bbox
        assert 0 <= left < right <= 596
        assert 0 <= top < bottom <= 843
    title = next(block for block in document.blocks if block.type is BlockType.TITLE)
    assert title.bbox is not None
    assert 70 < title.bbox[1] < 105


def test_the_owner_imports_no_parser(workshop, report: bytes) -> None:
    (workshop.folder / "r.pdf").write_bytes(report)
    code = """
import hashlib, sys
from pathlib import Path
from ingestd.convert import *
folder = Path(sys.argv[1])
data = (folder / "r.pdf").read_bytes()
made = Conversions(options=ConvertOptions(), cache=ConversionCache(folder / "c", 1 << 20), workers=1)
for mime in ("application/pdf", "text/html", "text/markdown", "message/rfc822",
             "application/vnd.openxmlformats-officedocument.wordprocessingml.document"):
    try:
        made.stage_for(mime)
    except Exception as error:
        assert "docling" in str(error), error
made.convert(path=folder / "r.pdf", name="r.pdf", mime="application/pdf", size=len(data),
             fingerprint=hashlib.sha256(data).hexdigest())
made.close()
print(sorted({"liteparse", "pypdfium2", "mammoth", "docling", "docling_core", "docx", "lxml", "bs4"} & set(sys.modules)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, str(workshop.folder)], capture_output=True, text=True, check=False, timeout=90
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr


def test_bookmarks_make_headings_and_give_their_levels(workshop, pdf_type, page_type, wrapped, outlined) -> None:
    pages = [page_type([(70, 80, 10.5, "Plain start"), *wrapped(120, WORDS)]) for _ in range(2)]
    document = workshop.document("r.pdf", pdf_type(pages, outline=[("Plain start", 0)]).render())
    assert outlined(document.blocks)[0] == ("title", "Plain start", 1)
    assert outlined(document.blocks)[2][0] == "paragraph"


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_rotated_pages_are_read(workshop, pdf_type, page_type, wrapped, rotate: int) -> None:
    document = workshop.document("r.pdf", pdf_type([page_type(wrapped(100, WORDS), rotate=rotate)]).render())
    text = " ".join(block.text for block in document.blocks)
    assert "measures how far" in " ".join(text.split())


def test_a_password_is_said_to_be_needed(workshop, pdf_type, page_type, wrapped) -> None:
    with pytest.raises(PdfEncrypted, match=r"r\.pdf needs a password"):
        workshop.document("r.pdf", pdf_type([page_type(wrapped(100, WORDS))], password="secret").render())


def test_without_ocr_scans_wait_for_it_and_mixed_files_say_which_pages(workshop, pdf_type, page_type, wrapped) -> None:
    conversions = workshop.conversions(ocr="off")
    with pytest.raises(NeedsOcr, match="none of the 2 pages"):
        workshop.run(conversions, "r.pdf", pdf_type([page_type(picture=True)] * 2).render())
    mixed = pdf_type([page_type(wrapped(100, WORDS)), page_type(picture=True)]).render()
    assert workshop.run(conversions, "m.pdf", mixed).document.meta["pages_without_text"] == [2]


def test_broken_files_are_corrupt_and_blank_ones_empty(workshop, pdf_type, page_type, report: bytes) -> None:
    conversions = workshop.conversions()
    for data in (b"%PDF-1.7\n", b"%PDF-1.7\nnot a PDF at all" * 50, report[:300]):
        with pytest.raises(CorruptFile, match=r"r\.pdf"):
            workshop.run(conversions, "r.pdf", data)
    with pytest.raises(FileEmpty):
        workshop.run(conversions, "r.pdf", pdf_type([page_type()]).render())


def test_more_pages_than_allowed_are_refused_and_none_is_dropped(workshop, pdf_type, page_type, wrapped) -> None:
    pages = [page_type(wrapped(100, f"This is page {number} of the file.")) for number in range(1, 1202)]
    data = pdf_type(pages).render()
    document = workshop.document("r.pdf", data)
    assert document.page_count == 1201
    assert "This is page 1201 of the file." in document.markdown
    with pytest.raises(DocumentTooLarge, match="1201 pages, more than the 1200 allowed"):
        workshop.document("other.pdf", data + b"\n", max_pages=1200)
