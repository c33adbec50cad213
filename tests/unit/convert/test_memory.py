"""Texts are converted from memory as they are from a file."""

import hashlib

import pytest

from ingestd.convert.types import DOCX, HTML, MARKDOWN, PDF, TEXT
from ingestd.errors import DocumentTooLarge
from ingestd.model.identity import Fingerprint
from tests.unit.convert.conftest import Workshop


@pytest.mark.parametrize(
    ("name", "mime", "data"),
    [
        ("a.md", MARKDOWN, "# Über\n\nText.\n".encode()),
        ("a.txt", TEXT, "Käse.\r\n\r\nBrot.".encode("cp1252")),
        ("a.html", HTML, b"<html><meta charset=iso-8859-1><h1>K\xe4se</h1><p>Text.</p></html>"),
    ],
)
def test_a_text_in_memory_gives_the_document_that_its_file_gives(
    workshop: Workshop, name: str, mime: str, data: bytes
) -> None:
    of_file = workshop.document(name, data)
    conversions = workshop.conversions()
    print_ = Fingerprint(hashlib.sha256(data + b"elsewhere").hexdigest())
    made = conversions.convert(path=data, name=name, mime=mime, size=len(data), fingerprint=print_)
    assert not made.reused
    assert made.document == of_file


def test_only_what_is_read_in_this_process_is_taken_from_memory(workshop: Workshop) -> None:
    conversions = workshop.conversions()
    assert [conversions.reads_bytes(mime) for mime in (MARKDOWN, TEXT, HTML)] == [True, True, True]
    assert [conversions.reads_bytes(mime) for mime in (PDF, DOCX, "application/of-no-one")] == [False, False, False]
    with pytest.raises(TypeError, match="reads files"):
        conversions.convert(path=b"%PDF-1.4", name="a.pdf", mime=PDF, size=8, fingerprint=Fingerprint("0" * 64))


def test_a_page_in_memory_that_nests_too_deep_is_refused(workshop: Workshop) -> None:
    data = b"<div>" * 5000 + b"text"
    with pytest.raises(DocumentTooLarge, match="nests"):
        workshop.conversions().convert(
            path=data, name="a.html", mime=HTML, size=len(data), fingerprint=Fingerprint("1" * 64)
        )
