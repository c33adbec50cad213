"""Title, authors and dates that an Office file states about itself."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

_CORE = "docProps/core.xml"
_MAX_BYTES = 256 * 1024
_KEYS: Mapping[str, str] = {
    "{http://purl.org/dc/elements/1.1/}title": "title",
    "{http://purl.org/dc/elements/1.1/}creator": "authors",
    "{http://purl.org/dc/elements/1.1/}description": "description",
    "{http://purl.org/dc/elements/1.1/}language": "language",
    "{http://purl.org/dc/terms/}created": "date",
    "{http://purl.org/dc/terms/}modified": "modified",
    "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}keywords": "keywords",
}


def docx_properties(path: Path) -> dict[str, str]:
    """The core properties that have a value; none when the file states none that can be read."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_CORE) as member:
            content = member.read(_MAX_BYTES)
    except (KeyError, OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return {}
    # A document type could define entities: no Office program writes one here.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return {}
    try:
        root = ET.fromstring(content)  # noqa: S314 (bounded, and without a document type there are no entities)
    except ET.ParseError:
        return {}
    return {
        _KEYS[element.tag]: element.text.strip()[:4096]
        for element in root
        if element.tag in _KEYS and element.text and element.text.strip()
    }
