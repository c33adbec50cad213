"""Chunklets into chunks."""

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.compat.structure_first.blocks import Blocks, blocks_of
from ingestd.chunk.compat.structure_first.chunk import Chunk
from ingestd.chunk.compat.structure_first.constants import (
    DEFAULT_MAX_SIZE_CHARS,
    FRONT_MATTER_CHUNK_PENALTY,
    FRONT_MATTER_CHUNK_TARGET_FRACTION,
    SMALL_CHUNK_PENALTY,
    SMALL_CHUNK_TARGET_FRACTION,
)
from ingestd.chunk.compat.structure_first.errors import OversizedChunkletError, ValidationError
from ingestd.chunk.compat.structure_first.headings import with_heading_paths
from ingestd.chunk.compat.structure_first.openings import begins_with_two_headings
from ingestd.chunk.compat.structure_first.partition import Costs, cheapest_pieces
from ingestd.chunk.compat.structure_first.protocols import ChunkletEmbedder, Matrix
from ingestd.chunk.compat.structure_first.similarity import cut_costs
from ingestd.chunk.tracing import Span, Value, span


async def split_chunks(
    chunklets: list[str], embedder: ChunkletEmbedder, max_size: int = DEFAULT_MAX_SIZE_CHARS
) -> list[Chunk]:
    """Join chunklets to chunks that end where the subject changes most.

    Parameters
    ----------
    chunklets
        Of one document, in order.
    embedder
        Asked once, and only where more than one chunk is needed.
    max_size
        Characters of a chunk.

    Returns
    -------
    list of Chunk
        They tile the concatenation of the chunklets, in which their offsets count.

    Raises
    ------
    OversizedChunkletError
        When a chunklet is longer than ``max_size``.
    ZeroNormEmbeddingError
        When the embedder returns a zero row.
    ValidationError
        When ``max_size`` is not positive, or the embedder returns a wrong shape or rows that are not finite.
    """
    texts = await chunk_texts(chunklets, embedder, max_size, None)
    places = [0, *accumulate(map(len, texts))]
    chunks = [Chunk(text, start, end) for text, (start, end) in zip(texts, pairwise(places), strict=True)]
    return with_heading_paths(chunks)


async def chunk_texts(
    chunklets: list[str], embedder: ChunkletEmbedder, max_size: int, blocks: Blocks | None
) -> list[str]:
    """As :func:`split_chunks`, of a text that may have been parsed already; the chunks' texts alone."""
    if max_size <= 0:
        raise ValidationError(f"max_size must be positive, got {max_size}")
    attributes: dict[str, Value] = {"fancychunk.chunklets.count": len(chunklets), "fancychunk.max_size": max_size}
    with span("fancychunk.split_chunks", attributes) as current:
        texts = await _split(chunklets, embedder, max_size, blocks, current)
        current.set_attribute("fancychunk.chunks.count", len(texts))
    return texts


async def _split(
    chunklets: list[str], embedder: ChunkletEmbedder, max_size: int, blocks: Blocks | None, current: Span
) -> list[str]:
    if not chunklets:
        current.set_attribute("fancychunk.short_circuit", "empty")
        return []
    lengths = np.fromiter(map(len, chunklets), dtype=np.intp, count=len(chunklets))
    if lengths.max() > max_size:
        index = int(np.argmax(lengths > max_size))
        raise OversizedChunkletError(
            f"chunklet {index} has length {lengths[index]} > max_size {max_size}: split it, or raise max_size"
        )
    text = "".join(chunklets)
    if len(chunklets) == 1 or len(text) <= max_size:
        current.set_attribute("fancychunk.short_circuit", "single_chunklet" if len(chunklets) == 1 else "total_fits")
        return [text]
    vectors = await embedder.embed_chunklets(list(chunklets))
    current.set_attribute("fancychunk.embedding.dim", int(np.shape(vectors)[-1]))
    with span("fancychunk.chunks.partition_similarities"):
        costs = cut_costs(chunklets, vectors)
    with span("fancychunk.chunks.dp"):
        headed = begins_with_two_headings(chunklets, text, blocks or blocks_of(text))
        badness = _badness(np.concatenate(([0], np.cumsum(lengths))), max_size, headed=headed)
        ends = cheapest_pieces(lengths, max_size, badness, np.concatenate(([0.0], costs)))
    return ["".join(chunklets[start:end]) for start, end in pairwise([0, *ends])]


def _badness(places: NDArray[np.intp], max_size: int, *, headed: bool) -> Costs:
    """Small chunks are bad; the first one of a document that begins with two headings is until it is half full."""
    small = SMALL_CHUNK_TARGET_FRACTION * max_size
    first_small = FRONT_MATTER_CHUNK_TARGET_FRACTION * max_size

    def badness(starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Matrix:
        sizes = (places[ends] - places[starts]).astype(np.float64)
        costs = SMALL_CHUNK_PENALTY * np.maximum(0.0, 1.0 - sizes / small)
        if headed:
            first = FRONT_MATTER_CHUNK_PENALTY * np.maximum(0.0, 1.0 - sizes / first_small)
            costs = np.where(starts == 0, np.maximum(costs, first), costs)
        return costs

    return badness
