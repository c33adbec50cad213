"""How each of many documents is chunked, in a form that another process can be given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ingestd import registry
from ingestd.chunk.chunking import Chunked, chunk
from ingestd.chunk.options import ChunkOptions
from ingestd.errors import ConfigurationError, IngestdError
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

MakeCount = Callable[[], TokenCounter]
MakeSegmenter = Callable[[], Segmenter]
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """What :func:`ingestd.chunk.chunk` is given beside the document, made where it is needed."""

    options: ChunkOptions
    make_count: MakeCount
    make_segmenter: MakeSegmenter
    max_tokens: int


def tools(chunking: Chunking) -> tuple[TokenCounter, Segmenter]:
    """Make the token counter and the segmenter.

    Raises
    ------
    ConfigurationError
        When one cannot be made; names which.
    IngestdError
        As the makers raise it: an engine that is not installed, an option that is wrong.
    """
    return _made("make_count", chunking.make_count), _made("make_segmenter", chunking.make_segmenter)


def ready(chunking: Chunking) -> Callable[[Document], Chunked]:
    """Make the tools; return what chunks a document with them.

    Raises
    ------
    IngestdError
        As :func:`tools` does.
    """
    count, segmenter = tools(chunking)

    def chunked(document: Document) -> Chunked:
        return chunk(document, chunking.options, count, segmenter, max_tokens=chunking.max_tokens)

    return chunked


def named_counter(embedder: str, options: Mapping[str, object] | None = None) -> MakeCount:
    """Makes the token counter of a registered embedder, wherever it is called.

    Parameters
    ----------
    embedder
        Such as ``bge-small``.
    options
        The embedder's own.
    """
    return partial(_counter, embedder, dict(options or {}))


def named_segmenter(segmenter: str, options: Mapping[str, object] | None = None) -> MakeSegmenter:
    """Makes a registered segmenter, wherever it is called.

    Parameters
    ----------
    segmenter
        Such as ``sentencex``.
    options
        The segmenter's own.
    """
    return partial(_segmenter, segmenter, dict(options or {}))


def _made(parameter: str, make: Callable[[], _Made]) -> _Made:
    try:
        return make()
    except IngestdError:
        raise
    except Exception as error:  # whatever the caller's function does, it is what is wrong
        raise ConfigurationError(f"{parameter} raised {type(error).__name__}: {error}") from error


def _counter(embedder: str, options: dict[str, object]) -> TokenCounter:
    count: TokenCounter = registry.factory("embedders", embedder)(options).count_tokens
    return count


def _segmenter(segmenter: str, options: dict[str, object]) -> Segmenter:
    made: Segmenter = registry.factory("segmenters", segmenter)(**options)
    return made
