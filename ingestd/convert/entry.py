"""The bytes that the conversion cache keeps of a document."""

import json
import zlib

from ingestd.model.document import Document, document_as_json, document_from_json

_LEVEL = 1
"""Level 3 saves a tenth of the bytes for a fifth more time (Markdown files of 8 KB, 2026-12)."""
_TEXT, _START, _END = 1, 2, 3
"""Places in a block's list of values."""


def packed(document: Document) -> bytes:
    """Compressed JSON; a block's text is left out where it stands so in the Markdown, as most do."""
    value = document_as_json(document)
    for block in value["blocks"]:
        if document.markdown[block[_START] : block[_END]] == block[_TEXT]:
            block[_TEXT] = None
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode("utf-8"), _LEVEL)


def unpacked(content: bytes) -> Document:
    """Document of which :func:`packed` gave the bytes.

    Raises
    ------
    zlib.error, ValueError, KeyError, TypeError, IndexError
        When they are no such bytes.
    """
    value = json.loads(zlib.decompress(content))
    for block in value["blocks"]:
        if block[_TEXT] is None:
            block[_TEXT] = value["markdown"][block[_START] : block[_END]]
    return document_from_json(value)
