"""Chunks of a document by the published package that the options name."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ingestd.chunk.chunked import Chunked
from ingestd.chunk.compat.grain_document import Given, given_chunked, grain_growth_chunked
from ingestd.chunk.compat.section_document import Embed, structure_first_chunked
from ingestd.chunk.options import SEED_DEFAULTS, ChunkOptions, sizes_of
from ingestd.errors import NotChunkable
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

LEAST_SIZE = 64
"""Characters below which sizes are not lowered."""


def fitted(
    document: Document, options: ChunkOptions, cut: Callable[[ChunkOptions], Chunked], *, max_tokens: int
) -> Chunked:
    """Chunks that the embedder takes whole: by the sizes given, or by the package's own, lowered where none are given.

    Lowered sizes are three quarters of the package's default, three quarters of that, and so on: the largest with which
    every chunk fits by the count of the largest before. So the result is always the package's for one of its parameters.

    Parameters
    ----------
    cut
        Chunks the document by the options that it is given, of which only sizes differ.

    Raises
    ------
    NotChunkable
        When a chunk is over ``max_tokens`` with the sizes given, or with the least.
    """
    made = cut(options)
    if options.max_size is not None or options.target_size is not None:
        return within(made, document, max_tokens)
    default = SEED_DEFAULTS[options.name]
    for size in _lowered(default.max_size):
        largest = max(made.chunks, key=lambda chunk: chunk.n_tokens, default=None)
        if largest is None or largest.n_tokens <= max_tokens:
            return made
        if size > len(largest.text) * max_tokens // largest.n_tokens:
            continue
        target = size * default.target_size // default.max_size if options.name == "grain-growth" else None
        made = cut(replace(options, max_size=size, target_size=target))
    return within(made, document, max_tokens)


def _lowered(size: int) -> Iterator[int]:
    while (size := size * 3 // 4) >= LEAST_SIZE:
        yield size


def fitted_chunked(
    document: Document,
    options: ChunkOptions,
    count: TokenCounter,
    segmenter: Segmenter,
    embed: Embed | None,
    *,
    max_tokens: int,
) -> Chunked:
    """As :func:`seed_chunked`, within what the embedder takes; see :func:`fitted`."""
    return fitted(
        document, options, lambda sized: seed_chunked(document, sized, count, segmenter, embed), max_tokens=max_tokens
    )


def seed_chunked(
    document: Document, options: ChunkOptions, count: TokenCounter, segmenter: Segmenter, embed: Embed | None
) -> Chunked:
    """Chunks as the published package makes them, which knows no limit in tokens.

    Parameters
    ----------
    embed
        Needed by structure-first alone.

    Raises
    ------
    ValueError
        When an option is out of its range, or structure-first has nothing to embed with.
    NotChunkable
        When the package refuses the document.
    """
    sizes = sizes_of(options)
    if options.name == "grain-growth":
        return _made(
            document,
            lambda: grain_growth_chunked(document, count, target_size=sizes.target_size, max_size=sizes.max_size),
        )
    if embed is None:
        raise ValueError('embed is missing: structure-first in the profile "compat" cuts large sections by meaning')
    return _made(
        document,
        lambda: structure_first_chunked(
            document, count, segmenter, embed, max_size=sizes.max_size, min_size=sizes.min_size
        ),
    )


def given_blocks_chunked(document: Document, given: Given, options: ChunkOptions, count: TokenCounter) -> Chunked:
    """Chunks of blocks in the form of grain-growth 1.0.0, exactly what it makes of them.

    Raises
    ------
    ValueError, NotChunkable
        As :func:`seed_chunked`.
    """
    sizes = sizes_of(options)
    return _made(
        document,
        lambda: given_chunked(document, given, count, target_size=sizes.target_size, max_size=sizes.max_size),
    )


def within(chunked: Chunked, document: Document, max_tokens: int) -> Chunked:
    """The chunks, all of which the embedder can take whole.

    Raises
    ------
    NotChunkable
        When one has more tokens than the embedder takes; names it, its size, the limit and the way out.
    """
    over = [chunk for chunk in chunked.chunks if chunk.n_tokens > max_tokens]
    if not over:
        return chunked
    largest = max(over, key=lambda chunk: chunk.n_tokens)
    chars = len(largest.text)
    raise NotChunkable(
        f"{len(over)} of the {len(chunked.chunks)} chunks of {document.title!r} are over the {max_tokens} tokens that "
        f"the embedder takes; the largest, chunk {largest.index} at character {largest.char_start}, has "
        f'{largest.n_tokens} tokens in {chars} characters. The profile "compat" counts characters, as the published '
        f"packages do: set chunker.max_size to about {max(1, chars * max_tokens // largest.n_tokens * 9 // 10)}, "
        'choose an embedder that takes more, or chunker.profile = "native", whose cap holds for every text'
    )


def _made(document: Document, make: Callable[[], Chunked]) -> Chunked:
    try:
        return make()
    except ValueError as error:
        raise NotChunkable(
            f"the published package's rules refuse {document.title!r}: {error}; "
            'raise chunker.max_size, or set chunker.profile = "native"'
        ) from error
