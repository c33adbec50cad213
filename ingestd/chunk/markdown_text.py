"""Markdown text as a document."""

from ingestd import registry
from ingestd.model.document import Document
from ingestd.ports.converter import Converter, ReadsText


def document_of_markdown(text: str, name: str = "document") -> Document:
    """Document of a Markdown text, which stays as it is.

    Parameters
    ----------
    name
        Titles a text without a title.

    Raises
    ------
    AdapterUnavailable
        When the reader of Markdown cannot be loaded.
    """
    reader: Converter = registry.factory("converters", "markdown")({})
    assert isinstance(reader, ReadsText)
    return reader.document_of(text, name)
