"""The two chunkers as functions, each option a parameter with its default."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingestd import registry
from ingestd.chunk.chunked import Chunked
from ingestd.chunk.chunking import Embed, chunk
from ingestd.chunk.compat.chunking import fitted, given_blocks_chunked, within
from ingestd.chunk.compat.grain_document import Given
from ingestd.chunk.compat.section_document import completed, structure_first_chunked_async
from ingestd.chunk.compat.segmenting import as_segmenter, probabilities
from ingestd.chunk.compat.structure_first.protocols import ChunkletEmbedder, SentenceSegmenter
from ingestd.chunk.markdown_text import document_of_markdown
from ingestd.chunk.options import ChunkOptions, sizes_of
from ingestd.chunk.threads import in_a_thread
from ingestd.chunk.typed_blocks import faults, shown, typed_blocks
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

Profile = Literal["native", "compat"]
_UNLIMITED = 2**40
_CHARS_A_TOKEN = 4


def grain_growth(
    document: Document | Sequence[Mapping[str, Any]],
    filename: str = "document",
    *,
    profile: Profile = "native",
    max_size: int | None = None,
    target_size: int | None = None,
    min_size: int | None = None,
    unit: Literal["tokens", "chars"] | None = None,
    count: TokenCounter | None = None,
    segmenter: Segmenter | None = None,
    max_tokens: int | None = None,
) -> Chunked:
    """Chunks that grow block by block inside one section.

    Parameters
    ----------
    document
        A document, or typed blocks in reading order: mappings with ``type``, ``text`` and ``page`` (0-based).
    filename
        Titles blocks that have no title.
    profile
        ``compat``: for the same blocks the texts and metadata of grain-growth 1.0.0, whose ``target_chars`` is
        ``target_size`` and whose ``max_chars`` is ``max_size``.
    max_size, target_size, min_size
        In ``unit``. ``None``: the profile's own.
    unit
        ``None``: tokens where ``count`` is given, else characters.
    count
        Counts the embedder's tokens. ``None``: a token for each four characters, for ``n_tokens`` alone.
    segmenter
        Splits sentences in the profile ``native``. ``None``: the one without a model.
    max_tokens
        Most of a text, special tokens included. ``None``: only the sizes count. In the profile ``compat`` sizes that are
        not given are lowered until all texts keep it.

    Raises
    ------
    ValueError
        When a block or an option is wrong; names it.
    NotChunkable
        In the profile ``compat``, when a text is over ``max_tokens``.
    """
    options = ChunkOptions(
        name="grain-growth",
        profile=profile,
        max_size=max_size,
        target_size=target_size,
        min_size=min_size,
        unit=_unit(unit, profile, count),
    )
    counter = count or by_length
    if isinstance(document, Document):
        return _cut(document, options, counter, segmenter, max_tokens, None)
    found = faults(document, "any" if profile == "compat" else "known")
    if found:
        raise ValueError(f"invalid blocks: {shown(found)}")
    blocks = typed_blocks(document, filename)
    if profile == "native":
        return _cut(blocks.document, options, counter, segmenter, max_tokens, None)
    given = Given(blocks=blocks.given, origins=blocks.origins, filename=filename)  # type: ignore[arg-type]  # checked above
    return fitted(
        blocks.document,
        options,
        lambda sized: given_blocks_chunked(blocks.document, given, sized, counter),
        max_tokens=_limit(max_tokens),
    )


def structure_first(
    document: Document | str,
    embed: Embed | ChunkletEmbedder | None = None,
    max_size: int | None = None,
    *,
    profile: Profile = "native",
    min_size: int | None = None,
    target_size: int | None = None,
    unit: Literal["tokens", "chars"] | None = None,
    count: TokenCounter | None = None,
    segmenter: Segmenter | SentenceSegmenter | None = None,
    max_tokens: int | None = None,
) -> Chunked:
    """Chunks that are whole sections, and parts of those that are too large.

    Parameters
    ----------
    document
        A document, or Markdown.
    embed
        Vectors of texts, for the profile ``compat``, which cuts large sections by meaning: a function, or an embedder
        of fancychunk's form that never waits. Asked only where something is too large.
    max_size, min_size, target_size
        In ``unit``. ``None``: the profile's own.
    profile
        ``compat``: for the same Markdown the texts and offsets of fancychunk 0.8.0.
    segmenter
        Splits sentences; in the profile ``compat`` also what gives a probability for each character.
    unit, count, max_tokens
        As for :func:`grain_growth`.

    Raises
    ------
    ValueError
        When an option is wrong; names it.
    NotChunkable
        In the profile ``compat``, when a text is over ``max_tokens``, or the package's rules refuse the document.
    """
    options = _sections(profile, max_size, min_size, target_size, _unit(unit, profile, count))
    whole = document if isinstance(document, Document) else document_of_markdown(document)
    splitter = as_segmenter(segmenter)
    return _cut(whole, options, count or by_length, splitter, max_tokens, _function(embed))


async def structure_first_async(
    document: Document | str,
    embedder: ChunkletEmbedder | None = None,
    max_size: int | None = None,
    *,
    profile: Profile = "native",
    min_size: int | None = None,
    target_size: int | None = None,
    unit: Literal["tokens", "chars"] | None = None,
    count: TokenCounter | None = None,
    segmenter: Segmenter | SentenceSegmenter | None = None,
    max_tokens: int | None = None,
) -> Chunked:
    """As :func:`structure_first`, for callers in an event loop.

    In the profile ``compat`` the embedder is awaited, as fancychunk does; in ``native`` a thread does the work.
    """
    options = _sections(profile, max_size, min_size, target_size, _unit(unit, profile, count))
    counter = count or by_length
    whole = document if isinstance(document, Document) else document_of_markdown(document)
    if profile == "native":
        return await in_a_thread(lambda _look: _cut(whole, options, counter, as_segmenter(segmenter), max_tokens, None))
    if embedder is None:
        raise ValueError('embedder is missing: the profile "compat" cuts large sections by meaning')
    sizes = sizes_of(options)
    made = await structure_first_chunked_async(
        whole,
        counter,
        probabilities(as_segmenter(segmenter) or _default_segmenter()),
        embedder,
        max_size=sizes.max_size,
        min_size=sizes.min_size,
    )
    return within(made, whole, _limit(max_tokens))


def by_length(texts: Sequence[str]) -> list[int]:
    """A token for each four characters: about what English takes."""
    return [-(-len(text) // _CHARS_A_TOKEN) for text in texts]


def _sections(
    profile: Profile, max_size: int | None, min_size: int | None, target_size: int | None, unit: str | None
) -> ChunkOptions:
    return ChunkOptions(
        name="structure-first",
        profile=profile,
        max_size=max_size,
        target_size=target_size,
        min_size=min_size,
        unit=unit,
    )


def _cut(
    document: Document,
    options: ChunkOptions,
    count: TokenCounter,
    segmenter: Segmenter | None,
    max_tokens: int | None,
    embed: Embed | None,
) -> Chunked:
    splitter = segmenter or _default_segmenter()
    return chunk(document, options, count, splitter, max_tokens=_limit(max_tokens), embed=embed)


def _unit(unit: str | None, profile: Profile, count: TokenCounter | None) -> str | None:
    return "chars" if unit is None and (count is None or profile == "compat") else unit


def _limit(max_tokens: int | None) -> int:
    return _UNLIMITED if max_tokens is None else max_tokens


def _default_segmenter() -> Segmenter:
    made: Segmenter = registry.factory("segmenters", "sentencex")()
    return made


def _function(embed: Embed | ChunkletEmbedder | None) -> Embed | None:
    if embed is None or callable(embed):
        return embed
    embedder = embed

    def vectors(texts: list[str]) -> NDArray[Any]:
        return np.asarray(completed(_awaited(embedder, texts)))

    return vectors


async def _awaited(embedder: ChunkletEmbedder, texts: list[str]) -> NDArray[Any]:
    return await embedder.embed_chunklets(texts)
