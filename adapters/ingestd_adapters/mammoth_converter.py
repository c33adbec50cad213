"""DOCX files through mammoth: its HTML, read by our own reader."""

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ingestd.convert.types import DOCX
from ingestd.errors import AdapterUnavailable, CorruptFile
from ingestd.model.document import Document
from ingestd.model.recipe import Stage
from ingestd.ports.converter import ConversionRequest, Converter
from ingestd_adapters.docx_properties import docx_properties
from ingestd_adapters.html_converter import html_document

_STAGE = Stage(name="mammoth", version=1)
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Caption'] => figcaption:fresh
p[style-name='caption'] => figcaption:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
"""


def mammoth(options: Mapping[str, Any]) -> Converter:
    """Converter of DOCX; takes no options.

    Raises
    ------
    AdapterUnavailable
        When mammoth is not installed.
    """
    del options
    if importlib.util.find_spec("mammoth") is None:
        raise AdapterUnavailable("mammoth is not installed: pip install ingestd brings it")
    return _MammothConverter()


@dataclass(frozen=True, slots=True)
class _MammothConverter:
    stage: Stage = _STAGE
    mimes: frozenset[str] = frozenset({DOCX})
    in_process: bool = False

    def load(self) -> None:
        """Import the engine."""
        importlib.import_module("mammoth")

    def convert(self, request: ConversionRequest) -> Document:
        page = _page(request)
        document = html_document(page, name=request.name, converter="mammoth/1")
        properties = docx_properties(request.path)
        stated = str(properties.get("title", ""))
        if stated and document.provenance["title"] == "name":
            document = replace(document, title=stated, provenance={"title": "meta"})
        version = importlib.metadata.version("mammoth")
        return replace(
            document, meta={**document.meta, **properties}, provenance={**document.provenance, "mammoth": version}
        )


def _page(request: ConversionRequest) -> str:
    engine: Any = importlib.import_module("mammoth")

    with request.path.open("rb") as file:
        try:
            # Pictures become their alternative text: their bytes would be carried along as data addresses.
            result = engine.convert_to_html(
                file,
                style_map=_STYLES,
                convert_image=engine.images.img_element(_no_source),
                include_embedded_style_map=False,
            )
        except MemoryError:
            raise
        except Exception as error:
            raise CorruptFile(f"{request.name} cannot be read as DOCX ({type(error).__name__}: {error})") from error
    page: str = result.value
    return page


def _no_source(_image: Any) -> dict[str, str]:
    return {"src": ""}
