"""Chunks of a document by the published package that the options name."""

from collections.abc import Callable

from ingestd.chunk.chunked import Chunked
from ingestd.chunk.compat.grain_document import Given, given_chunked, grain_growth_chunked
from ingestd.chunk.compat.section_document import Embed, structure_first_chunked
from ingestd.chunk.options import ChunkOptions, sizes_of
from ingestd.errors import NotChunkable
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter


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
