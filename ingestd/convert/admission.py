"""Whether a file may reach a parser, told without one."""

import re
from pathlib import Path

from ingestd.convert.options import ConvertOptions
from ingestd.convert.types import HTML, ZIPPED
from ingestd.convert.zip_directory import check_zip_directory
from ingestd.errors import DocumentTooLarge, FileEmpty, FileTooLarge

_NESTING = re.compile(
    rb"<(/?+)(?:div|section|article|main|table|ul|ol|blockquote|fieldset|span)(?=[\s>/])[^<>]*+", re.IGNORECASE
)


def admit_size(*, mime: str, size: int, name: str, options: ConvertOptions) -> None:
    """Refuse by size alone, which needs no reading.

    Raises
    ------
    FileEmpty, FileTooLarge
        Naming the size, and the limit of the type.
    """
    if size == 0:
        raise FileEmpty(f"{name} holds 0 bytes")
    limit = options.size_limit(mime)
    if size > limit:
        raise FileTooLarge(
            f"{name} has {size} bytes, more than the {limit} allowed for {mime}: split it, or raise the limit"
        )


def admit(*, file: Path | bytes, mime: str, size: int, name: str, options: ConvertOptions) -> None:
    """Refuse what would only hurt a parser: by size, zip directory, or nesting.

    Parameters
    ----------
    file
        On disk, or all of it; a type that is zipped on disk only.

    Raises
    ------
    FileEmpty, FileTooLarge, CorruptFile, DocumentTooLarge
        Naming what was found and what is allowed.
    """
    admit_size(mime=mime, size=size, name=name, options=options)
    if mime in ZIPPED and isinstance(file, Path):
        check_zip_directory(file, name)
    elif mime == HTML:
        _check_nesting(file if isinstance(file, bytes) else file.read_bytes(), name, options.html_depth)


def _check_nesting(data: bytes, name: str, deepest: int) -> None:
    """Count only elements whose end tag may not be left out: old pages leave out the others by the thousand."""
    depth = 0
    for found in _NESTING.finditer(data):
        depth = max(depth - 1, 0) if found[1] else depth + 1
        if depth > deepest:
            raise DocumentTooLarge(f"{name} nests its elements more than {deepest} deep")
