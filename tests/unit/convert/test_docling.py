import pytest

pytest.importorskip("docling", reason="the docling extra is not installed")


def test_a_docx_through_docling_has_the_same_outline(workshop, make_docx, word, outlined) -> None:
    row = f"<w:tr><w:tc>{word('a')}</w:tc><w:tc>{word('b')}</w:tc></w:tr>"
    table = f"<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{row}{row}</w:tbl>"
    body = word("The report", "Title") + word("Some text.") + table
    conversions = workshop.conversions(office="docling")
    document = workshop.run(conversions, "r.docx", make_docx(body)).document
    assert document.converter == "docling/1"
    assert [kind for kind, _, _ in outlined(document.blocks)] == ["title", "paragraph", "table"]
    mail = b"From: Ann <a@b.org>\nTo: Bo\nSubject: Fish\nDate: Mon, 5 Jan 2026 10:00:00 +0000\n\nThere is fish.\n"
    document = workshop.run(conversions, "m.eml", mail).document
    assert "There is fish." in document.markdown
    assert (document.meta["authors"], document.title) == ("Ann <a@b.org>", "Fish")
    document = workshop.run(conversions, "t.csv", b"name,price\nfish,3\n").document
    assert "| fish | 3 |" in document.markdown
