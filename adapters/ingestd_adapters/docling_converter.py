"""Office files, books, mails and tables of values through Docling, without its models."""

import importlib
import importlib.metadata
import importlib.util
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingestd.convert import types
from ingestd.convert.naming import stem
from ingestd.convert.render import render
from ingestd.errors import AdapterUnavailable, CorruptFile, IncompleteConversion
from ingestd.model.document import Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter
from ingestd_adapters.docling_blocks import pieces_of
from ingestd_adapters.docx_properties import docx_properties
from ingestd_adapters.html_converter import titled
from ingestd_adapters.mail_headers import mail_headers

_STAGE = Stage(name="docling", version=1)
_FORMATS: Mapping[str, tuple[str, str]] = {
    types.DOCX: ("DOCX", "docx"),
    types.PPTX: ("PPTX", "pptx"),
    types.XLSX: ("XLSX", "xlsx"),
    types.ODT: ("ODT", "odt"),
    types.ODS: ("ODS", "ods"),
    types.ODP: ("ODP", "odp"),
    types.EPUB: ("EPUB", "epub"),
    types.EML: ("EMAIL", "eml"),
    types.CSV: ("CSV", "csv"),
}
"""Type → Docling's name of the format, and the extension by which it knows it."""
_OOXML = frozenset({types.DOCX, types.PPTX, types.XLSX})


def docling(options: Mapping[str, Any]) -> Converter:
    """Converter of office files; takes no options.

    Raises
    ------
    AdapterUnavailable
        When Docling is not installed.
    """
    del options
    if importlib.util.find_spec("docling") is None:
        raise AdapterUnavailable('docling is not installed: pip install "ingestd[docling]"')
    return _DoclingConverter(engines={})


@dataclass(frozen=True, slots=True, kw_only=True)
class _DoclingConverter:
    engines: dict[str, Any]
    """The converter object of Docling, once it is loaded."""
    stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset(_FORMATS)
    in_process: bool = False

    def load(self) -> None:
        """Import the engine, which takes seconds."""
        if "converter" not in self.engines:
            formats: Any = importlib.import_module("docling.datamodel.base_models").InputFormat
            module: Any = importlib.import_module("docling.document_converter")
            allowed = [getattr(formats, name) for name, _ in _FORMATS.values()]
            self.engines["converter"] = module.DocumentConverter(allowed_formats=allowed)

    def convert(self, request: ConversionRequest) -> Document:
        self.load()
        read = _read(self.engines["converter"], request)
        layers: Any = importlib.import_module("docling_core.types.doc").ContentLayer
        pieces, heading = titled(list(pieces_of(read, {layers.BODY, layers.NOTES, layers.FURNITURE})))
        markdown, blocks = render(pieces)
        properties = _properties(request)
        title = heading or properties.get("title", "")
        return Document(
            title=title or stem(request.name),
            markdown=markdown,
            blocks=blocks,
            meta=properties,
            page_count=len(read.pages) or None,
            converter="docling/1",
            provenance={
                "title": "heading" if heading else "meta" if title else "name",
                "docling": importlib.metadata.version("docling-core"),
            },
        )


def _read(converter: Any, request: ConversionRequest) -> Any:
    base: Any = importlib.import_module("docling.datamodel.base_models")
    # The staged copy has no extension, and Docling tells formats by it.
    stream = base.DocumentStream(
        name=f"document.{_FORMATS[request.mime][1]}", stream=io.BytesIO(request.path.read_bytes())
    )
    try:
        result = converter.convert(stream, raises_on_error=False)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        raise CorruptFile(f"{request.name} cannot be read ({type(error).__name__}: {error})") from error
    said = "; ".join(str(error.error_message) for error in result.errors)[:500]
    if result.status == base.ConversionStatus.PARTIAL_SUCCESS:
        raise IncompleteConversion(f"{request.name} came through only in part: {said or 'no reason given'}")
    if result.status != base.ConversionStatus.SUCCESS:
        raise CorruptFile(f"{request.name} cannot be read: {said or result.status}")
    return result.document


def _properties(request: ConversionRequest) -> dict[str, str]:
    if request.mime in _OOXML:
        return docx_properties(request.path)
    return mail_headers(request.path) if request.mime == types.EML else {}
