import pytest

from ingestd.convert import mime_of
from ingestd.convert.types import CSV, DOCX, EML, EPUB, HTML, MARKDOWN, ODT, PDF, TEXT, XLSX
from ingestd.errors import ContentMismatch, UnsupportedType

ZIP = b"PK\x03\x04" + b"\x00" * 22 + b"\x08\x00\x00\x00"


@pytest.mark.parametrize(
    ("name", "head", "mime"),
    [
        (b"a.md", b"# hello", MARKDOWN),
        (b"A.MARKDOWN", b"", MARKDOWN),
        (b"README", b"hello", TEXT),
        (b".hidden", b"hello", TEXT),
        (b"dir.md/notes", b"hello", TEXT),
        (b"a.txt", b"hello\x1b[1m", TEXT),
        (b"a.txt", b"\xff\xfeh\x00i\x00", TEXT),
        (b"a.pdf", b"%PDF-1.7\n", PDF),
        (b"a.md", b"%PDF-1.7\n\x00\x00", PDF),
        (b"a.pdf", b"junk before\n%PDF-1.7", PDF),
        (b"a.html", b"<p>hello", HTML),
        (b"a.txt", b"\n <!DOCTYPE HTML>\n<html>", HTML),
        (b"a.md", b"<!-- a note -->\n<html lang=en>", HTML),
        (b"a.md", b"<p align=center>not a page</p>", MARKDOWN),
        (b"a.docx", ZIP + b"[Content_Types].xml", DOCX),
        (b"a.zip", ZIP + b"[Content_Types].xml word/document.xml", DOCX),
        (b"a.xlsx", ZIP, XLSX),
        (b"whatever", b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/epub+zip", EPUB),
        (b"a.odt", b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.text", ODT),
        (b"a.csv", b"a,b", CSV),
        (b"a.eml", b"From: a@b.c", EML),
        (b"a.json", b"{}", "application/json"),
        (b"a.docx", b"", DOCX),
    ],
)
def test_magic_decides_then_the_extension(name: bytes, head: bytes, mime: str) -> None:
    assert mime_of(name, head) == mime


@pytest.mark.parametrize(
    ("name", "head", "what"),
    [
        (b"a.zip", ZIP, "a zip archive"),
        (b"a.tar.gz", b"\x1f\x8b\x08\x00", "a gzip archive"),
        (b"a.7z", b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"a.tar", b"name" + b"\0" * 253 + b"ustar", "a tar archive"),
        (b"a.png", b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        (b"a.mp4", b"\0\0\0\x20ftypisom", "a video"),
        (b"a.webp", b"RIFF\0\0\0\0WEBP", "a RIFF media file"),
        (b"prog", b"\x7fELF\x02\x01", "a program"),
        (b"a.db", b"SQLite format 3\0", "an SQLite database"),
        (b"a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy Office"),
        (b"a.bin", bytes(range(256)), "binary data"),
        (b"a.xyz", b"plain words", "xyz"),
    ],
)
def test_what_nothing_reads_is_named(name: bytes, head: bytes, what: str) -> None:
    with pytest.raises(UnsupportedType, match=what):
        mime_of(name, head)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        (b"a.md", bytes(range(256))),
        (b"a.txt", b"a\0b\0c\0d\0"),
        (b"a.md", b"\x7fELF\x02"),
        (b"a.md", b"\x89PNG\r\n\x1a\n"),
        (b"a.txt", ZIP),
        (b"a.pdf", b"<p>no PDF at all"),
        (b"a.docx", b"words, not a zip file"),
    ],
)
def test_bytes_that_are_not_what_the_name_promises_are_refused(name: bytes, head: bytes) -> None:
    with pytest.raises(ContentMismatch, match=r"a\."):
        mime_of(name, head)


def test_names_that_are_no_text_are_shown_escaped() -> None:
    with pytest.raises(UnsupportedType, match=r"b\\xff\\n\.zip"):
        mime_of(b"b\xff\n.zip", ZIP)
