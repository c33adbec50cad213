"""Which converters read which types, in the order of preference."""

from collections.abc import Mapping
from importlib.util import find_spec
from shutil import which

from ingestd.convert import types
from ingestd.convert.options import ConvertOptions
from ingestd.errors import UnsupportedType

_OFFICE = frozenset(
    {types.DOCX, types.PPTX, types.XLSX, types.ODT, types.ODS, types.ODP, types.EPUB, types.EML, types.CSV}
)  # fmt: skip
_AUTO: Mapping[str, tuple[str, ...]] = {
    types.MARKDOWN: ("markdown",),
    types.TEXT: ("text",),
    "text/x-rst": ("text",),
    "text/x-org": ("text",),
    "text/asciidoc": ("text",),
    "text/x-tex": ("text",),
    types.HTML: ("html",),
    types.PDF: ("liteparse",),
    types.DOCX: ("docling", "mammoth"),
    **dict.fromkeys(sorted(_OFFICE - {types.DOCX}), ("docling",)),
}
_PACKAGES: Mapping[str, str] = {"docling": "docling", "mammoth": "mammoth", "liteparse": "liteparse"}
"""Packages without which our own adapters of these names cannot work."""
_OCR_PACKAGES = ("rapidocr",)
_OCR_PROGRAMS = ("tesseract",)
"""What our own adapter of PDF reads pictures of pages with."""
_EXTRAS: Mapping[str, str] = dict.fromkeys(_OFFICE, "docling")
"""The extra whose converter would take the type."""


def preferred(mime: str, options: ConvertOptions) -> tuple[str, ...]:
    """Registered names of the converters to try for the type, best first."""
    if mime == types.PDF and options.pdf != "auto":
        return (options.pdf,)
    if mime in _OFFICE and options.office != "auto":
        return (options.office,)
    return _AUTO.get(mime, ())


def readable_mimes(options: ConvertOptions) -> frozenset[str]:
    """Types that an installed converter takes, as far as can be told without importing any."""
    return frozenset(mime for mime in _AUTO if any(_is_installed(name) for name in preferred(mime, options)))


def installed_engines() -> tuple[str, ...]:
    """What is installed of all that can change the choice of a converter, or what it reads; imports none."""
    packages = (package for package in (*_PACKAGES.values(), *_OCR_PACKAGES) if find_spec(package) is not None)
    return (*packages, *(program for program in _OCR_PROGRAMS if which(program) is not None))


def _is_installed(name: str) -> bool:
    package = _PACKAGES.get(name)
    return package is None or find_spec(package) is not None


def refusal(mime: str) -> UnsupportedType:
    """Why the type has no converter, and what would take it."""
    if extra := _EXTRAS.get(mime):
        return UnsupportedType(f'no installed converter reads {mime}: pip install "ingestd[{extra}]"')
    return UnsupportedType(f"no converter reads {mime}: exclude such files, or convert them to PDF, HTML or Markdown")
