import pytest

from ingestd import registry
from ingestd.convert.types import PPTX
from ingestd.errors import AdapterUnavailable, CorruptFile, UnsupportedType

CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Stated</dc:title><dc:creator>Ann</dc:creator>'
    "</cp:coreProperties>"
)


def test_headings_paragraphs_and_tables_of_a_docx_come_through(workshop, make_docx, word, outlined) -> None:
    table = f"<w:tbl><w:tr><w:tc>{word('a')}</w:tc><w:tc>{word('b')}</w:tc></w:tr></w:tbl>"
    body = word("The report", "Title") + word("Part", "heading1") + word("Some text.") + table
    document = workshop.document("r.docx", make_docx(body, core=CORE), office="mammoth")
    assert outlined(document.blocks) == [
        ("title", "The report", 1),
        ("section", "Part", 1),
        ("paragraph", "Some text.", None),
        ("table", "| a | b |\n| --- | --- |", None),
    ]
    assert document.title == "The report"
    assert document.meta["authors"] == "Ann"
    assert document.converter == "mammoth/1"
    assert all(block.page is None for block in document.blocks)


def test_the_stated_title_serves_when_no_heading_does(workshop, make_docx, word) -> None:
    assert workshop.document("r.docx", make_docx(word("Text."), core=CORE), office="mammoth").title == "Stated"


def test_properties_with_a_document_type_are_not_read(workshop, make_docx, word) -> None:
    core = "<!DOCTYPE x [<!ENTITY a 'b'>]>" + CORE
    document = workshop.document("r.docx", make_docx(word("Text."), core=core), office="mammoth")
    assert document.title == "r"


def test_a_zip_that_is_no_docx_is_corrupt(workshop, make_docx, word) -> None:
    data = make_docx(word("x")).replace(b"word/document.xml", b"word/documenx.xml")
    with pytest.raises(CorruptFile, match=r"r\.docx"):
        workshop.document("r.docx", data, office="mammoth")


def test_malformed_xml_is_corrupt(workshop, make_docx) -> None:
    with pytest.raises(CorruptFile, match=r"r\.docx"):
        workshop.document("r.docx", make_docx("<w:p><w:broken"), office="mammoth")


def test_a_type_without_a_converter_names_the_extra(workshop) -> None:
    conversions = workshop.conversions(office="mammoth")
    with pytest.raises(UnsupportedType, match=r"ingestd\[docling\]"):
        conversions.stage_for("application/epub+zip")
    with pytest.raises(UnsupportedType, match="application/rtf"):
        conversions.stage_for("application/rtf")


def test_a_converter_whose_package_is_missing_is_said_once(workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def factory(_kind: str, name: str) -> object:
        raise AdapterUnavailable(f'{name} is not installed: pip install "ingestd[docling]"')

    monkeypatch.setattr(registry, "factory", factory)
    with pytest.raises(UnsupportedType) as refused:
        workshop.conversions().stage_for(PPTX)
    assert str(refused.value) == f'{PPTX}: docling is not installed: pip install "ingestd[docling]"'
