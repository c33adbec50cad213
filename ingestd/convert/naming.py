"""Titles from file names."""

from dataclasses import replace
from pathlib import PurePath

from ingestd.model.document import Document

TITLE_ORIGIN = "title"
"""Key of a document's provenance: ``heading``, ``meta`` or ``name``, by where its title was found."""


def stem(name: str) -> str:
    """Title of a document that states none: its file name without the extension."""
    return PurePath(name).stem.strip() or name.strip() or "untitled"


def renamed(document: Document, name: str) -> Document:
    """The document under another file name; only a title that was made from the name changes."""
    if document.provenance.get(TITLE_ORIGIN) != "name":
        return document
    return replace(document, title=stem(name))
