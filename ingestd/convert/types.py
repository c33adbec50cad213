"""What a file is, by its first bytes, then by its name."""

import codecs
import re
from collections.abc import Collection, Mapping

from ingestd.errors import ContentMismatch, UnsupportedType
from ingestd.model.source import display

HEAD_BYTES = 4096
"""How much of a file :func:`mime_of` wants to see."""

_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
PDF = "application/pdf"
HTML = "text/html"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
DOCX = f"{_OOXML}.wordprocessingml.document"
PPTX = f"{_OOXML}.presentationml.presentation"
XLSX = f"{_OOXML}.spreadsheetml.sheet"
ODT = f"{_ODF}.text"
ODS = f"{_ODF}.spreadsheet"
ODP = f"{_ODF}.presentation"
EPUB = "application/epub+zip"
EML = "message/rfc822"
CSV = "text/csv"
ZIPPED = frozenset({DOCX, PPTX, XLSX, ODT, ODS, ODP, EPUB})
"""Types that are zip archives of known members."""

_TEXTUAL: Mapping[str, str] = {
    "": TEXT, "txt": TEXT, "text": TEXT, "log": TEXT,
    "md": MARKDOWN, "markdown": MARKDOWN, "mdown": MARKDOWN, "mkd": MARKDOWN,
    "htm": HTML, "html": HTML, "xhtml": HTML,
    "rst": "text/x-rst", "org": "text/x-org", "adoc": "text/asciidoc", "tex": "text/x-tex",
    "csv": CSV, "tsv": "text/tab-separated-values", "eml": EML,
    "json": "application/json", "xml": "application/xml", "svg": "image/svg+xml",
}  # fmt: skip
_OFFICE: Mapping[str, str] = {
    "docx": DOCX, "docm": DOCX, "dotx": DOCX, "pptx": PPTX, "pptm": PPTX, "ppsx": PPTX, "xlsx": XLSX, "xlsm": XLSX,
    "odt": ODT, "ott": ODT, "ods": ODS, "odp": ODP, "epub": EPUB,
}  # fmt: skip
_PLAIN_BINARY: Mapping[str, str] = {"pdf": PDF, "rtf": "application/rtf"}
_BINARY_NAMES = frozenset({"pdf", "rtf", "doc", "xls", "ppt", "msg", *_OFFICE})
_ARCHIVES = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"PK\x05\x06", "an empty zip archive"),
)
_MEDIA = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"ID3", "an MP3 recording"),
    (b"OggS", "an Ogg recording"),
    (b"fLaC", "a FLAC recording"),
    (b"\x1aE\xdf\xa3", "a Matroska video"),
)
_PROGRAMS = (
    (b"\x7fELF", "a program (ELF)"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "a program (Mach-O or Java class)"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a program (WebAssembly)"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML_START = re.compile(
    rb"\s*+(?:<!--.{0,1024}?-->\s*+|<\?xml[^>]{0,256}+>\s*+)?(?:<!doctype html|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_STRAY_CONTROLS = 4
"""So few control characters are an accident in a text; the converters replace them."""
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def mime_of(name: bytes, head: bytes) -> str:
    """Media type of a file.

    Parameters
    ----------
    name
        File name or path, as the file system gave it.
    head
        First bytes of the file, :data:`HEAD_BYTES` or all of them.

    Raises
    ------
    UnsupportedType
        For archives, media, programs and types that nothing here could ever read; says what it is.
    ContentMismatch
        When the name promises text and the bytes are none, or the name promises a binary format and they are not it.
    """
    extension = _extension(name)
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _zipped(name, extension, head)
    if head.startswith(_OLE):
        raise UnsupportedType(
            f"{display(name)} is an OLE2 file: a legacy Office document, a mail of Outlook, or an encrypted Office "
            "document; save it as DOCX, XLSX or PPTX without a password"
        )
    if head.startswith(b"{\\rtf"):
        return "application/rtf"
    if what := _recognised(head):
        raise _refused(name, extension, what)
    return _textual(name, extension, head)


def promised(name: bytes) -> str | None:
    """Media type that the name alone promises; ``None`` where it promises none that could be read."""
    extension = _extension(name)
    return {**_TEXTUAL, **_OFFICE, **_PLAIN_BINARY}.get(extension)


def suffixes_of(mimes: Collection[str]) -> frozenset[str]:
    """Suffixes, lower case with their dot, of the names that promise one of the types; ``""`` is no suffix."""
    names = {**_TEXTUAL, **_OFFICE, **_PLAIN_BINARY}
    return frozenset(f".{extension}" if extension else "" for extension, mime in names.items() if mime in mimes)


def _extension(name: bytes) -> str:
    base = name.rsplit(b"/", 1)[-1]
    stem, dot, extension = base.rpartition(b".")
    return extension.decode("ascii", "replace").lower() if dot and stem else ""


def _zipped(name: bytes, extension: str, head: bytes) -> str:
    # OpenDocument and EPUB store their type first, uncompressed, for exactly this purpose.
    if head[30:38] == b"mimetype":
        for mime in (EPUB, ODT, ODS, ODP):
            if head[38:].startswith(mime.encode()):
                return mime
    if extension in _OFFICE:
        return _OFFICE[extension]
    for folder, mime in ((b"word/", DOCX), (b"ppt/", PPTX), (b"xl/", XLSX)):
        if b"[Content_Types].xml" in head and folder in head:
            return mime
    raise _refused(name, extension, "a zip archive")


def _recognised(head: bytes) -> str:
    for magic, what in (*_ARCHIVES, *_MEDIA, *_PROGRAMS):
        if head.startswith(magic):
            return what
    if head[257:262] == b"ustar":
        return "a tar archive"
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "a RIFF media file"
    if head[4:8] == b"ftyp":
        return "a video or a recording (MP4 family)"
    if head[:2] == b"MZ" and b"\0" in head[:64]:
        return "a program (Windows)"
    return "a BMP picture" if head[:2] == b"BM" and b"\0" in head[:32] else ""


def _refused(name: bytes, extension: str, what: str) -> UnsupportedType | ContentMismatch:
    if extension in _TEXTUAL and extension:
        return ContentMismatch(f"{display(name)} is {what}, not text as .{extension} promises: rename it or exclude it")
    way_out = "unpack it beside" if "archive" in what else "exclude it from the root"
    return UnsupportedType(f"{display(name)} is {what}, which is not ingested: {way_out}")


def _textual(name: bytes, extension: str, head: bytes) -> str:
    wide = head.startswith(_WIDE_MARKS)
    controls = 0 if wide else len(_NO_TEXT.findall(head))
    if controls * 4 > len(head) or (controls > _STRAY_CONTROLS and controls * 50 > len(head)):
        what = "binary data" if extension in _TEXTUAL and extension else "binary data of a format unknown here"
        raise _refused(name, extension, what)
    if extension in _BINARY_NAMES and head:
        raise ContentMismatch(
            f"{display(name)} is not what .{extension} promises: its first bytes are {head[:8]!r}; "
            "it may be damaged, or renamed from another format"
        )
    if extension in ("svg", "xml") or not _HTML_START.match(head[:HEAD_BYTES]):
        return _by_name(name, extension)
    return HTML


def _by_name(name: bytes, extension: str) -> str:
    if extension in _TEXTUAL:
        return _TEXTUAL[extension]
    if extension in _OFFICE:
        return _OFFICE[extension]
    if extension in ("pdf", "rtf"):
        return f"application/{extension}"
    raise UnsupportedType(
        f"{display(name)}: nothing here reads files called .{extension}; exclude them, or rename text to .txt or .md"
    )
