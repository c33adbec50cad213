"""How each of many documents is chunked, in a form that another process can be given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ingestd import registry
from ingestd.chunk.chunking import Chunked, Embed, chunk
from ingestd.chunk.options import ChunkOptions
from ingestd.errors import ConfigurationError, IngestdError
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

MakeCount = Callable[[], TokenCounter]
MakeSegmenter = Callable[[], Segmenter]
MakeEmbed = Callable[[], Embed]
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """What :func:`ingestd.chunk.chunk` is given beside the document, made once in each process that needs it.

    What makes something is a function of a module that can be imported, or a :func:`functools.partial` of one.
    """

    make_count: MakeCount
    """Makes the token counter; see :func:`named_counter`."""
    max_tokens: int
    """The embedder's limit, special tokens included."""
    options: ChunkOptions = field(default_factory=ChunkOptions)
    make_segmenter: MakeSegmenter = field(default_factory=lambda: named_segmenter("sentencex"))
    """Makes the segmenter; see :func:`named_segmenter`."""
    make_embed: MakeEmbed | None = None
    """Makes what structure-first in the profile ``compat`` embeds with; nothing else does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the makers made."""

    count: TokenCounter
    segmenter: Segmenter
    embed: Embed | None


def tools(chunking: Chunking) -> Tools:
    """Make them.

    Raises
    ------
    ConfigurationError
        When one cannot be made; names which.
    IngestdError
        As the makers raise it: an engine that is not installed, an option that is wrong.
    """
    return Tools(
        count=_made("make_count", chunking.make_count),
        segmenter=_made("make_segmenter", chunking.make_segmenter),
        embed=None if chunking.make_embed is None else _made("make_embed", chunking.make_embed),
    )


def chunk_with(made: Tools, chunking: Chunking, document: Document) -> Chunked:
    """Chunks of a document."""
    return chunk(
        document,
        chunking.options,
        made.count,
        made.segmenter,
        max_tokens=chunking.max_tokens,
        embed=made.embed,
    )


def named_counter(embedder: str, options: Mapping[str, object] | None = None) -> MakeCount:
    """What makes the token counter of a registered embedder, wherever it is called.

    Parameters
    ----------
    embedder
        Such as ``bge-small``.
    options
        The embedder's own.
    """
    return partial(_counter, embedder, dict(options or {}))


def named_segmenter(segmenter: str, options: Mapping[str, object] | None = None) -> MakeSegmenter:
    """What makes a registered segmenter, wherever it is called.

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
