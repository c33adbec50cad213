"""Whole documents into chunks with their vectors."""

import asyncio

from ingestd.chunk.compat.structure_first.chunk import Chunk
from ingestd.chunk.compat.structure_first.constants import DEFAULT_MAX_SIZE_CHARS
from ingestd.chunk.compat.structure_first.errors import ValidationError
from ingestd.chunk.compat.structure_first.late_chunking import embed_with_late_chunking
from ingestd.chunk.compat.structure_first.protocols import Embedder, Matrix, SentenceSegmenter
from ingestd.chunk.compat.structure_first.structure import split_chunks_structure_first


async def chunk_document(
    document: str,
    embedder: Embedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    *,
    min_size: int | None = None,
    segmenter: SentenceSegmenter | None = None,
) -> tuple[list[Chunk], Matrix]:
    """Chunks of a document, sections first, with late-chunked vectors in the same order.

    The vectors are experimental, see :func:`~ingestd.chunk.compat.structure_first.late_chunking.embed_with_late_chunking`.
    """
    chunks = await split_chunks_structure_first(document, embedder, max_size, min_size=min_size, segmenter=segmenter)
    return chunks, await embed_with_late_chunking(chunks, embedder)


async def chunk_documents(
    documents: list[str],
    embedder: Embedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    max_concurrency: int | None = None,
    *,
    min_size: int | None = None,
    segmenter: SentenceSegmenter | None = None,
) -> list[tuple[list[Chunk], Matrix]]:
    """As :func:`chunk_document`, for each document in order; the first error ends it all.

    ``max_concurrency`` bounds the documents in work at once. Only the embedder's calls overlap.

    Raises
    ------
    ValidationError
        When ``max_concurrency`` is not positive, or as the stages say.
    """
    if max_concurrency is not None and max_concurrency <= 0:
        raise ValidationError(f"max_concurrency must be positive when set, got {max_concurrency}")
    places = asyncio.Semaphore(max_concurrency or max(1, len(documents)))

    async def one(document: str) -> tuple[list[Chunk], Matrix]:
        async with places:
            return await chunk_document(document, embedder, max_size, min_size=min_size, segmenter=segmenter)

    return list(await asyncio.gather(*map(one, documents)))
