"""Whole documents into chunks with their vectors."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sized

from ingestd.chunk.compat.structure_first.chunk import Chunk
from ingestd.chunk.compat.structure_first.constants import DEFAULT_MAX_SIZE_CHARS
from ingestd.chunk.compat.structure_first.errors import FancyChunkError, ValidationError
from ingestd.chunk.compat.structure_first.late_chunking import embed_with_late_chunking
from ingestd.chunk.compat.structure_first.protocols import Embedder, Matrix, SentenceSegmenter
from ingestd.chunk.compat.structure_first.structure import split_chunks_structure_first
from ingestd.chunk.tracing import Value, span

Made = tuple[list[Chunk], Matrix]
"""Chunks of a document, with a row for each."""


async def chunk_document(
    document: str,
    embedder: Embedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    *,
    min_size: int | None = None,
    segmenter: SentenceSegmenter | None = None,
) -> Made:
    """Chunks of a document, sections first, with late-chunked vectors in the same order.

    The vectors are experimental, see :func:`~ingestd.chunk.compat.structure_first.late_chunking.embed_with_late_chunking`.
    """
    chunks = await split_chunks_structure_first(document, embedder, max_size, min_size=min_size, segmenter=segmenter)
    return chunks, await embed_with_late_chunking(chunks, embedder)


async def chunk_documents(
    documents: Iterable[str],
    embedder: Embedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    max_concurrency: int | None = None,
    *,
    min_size: int | None = None,
    segmenter: SentenceSegmenter | None = None,
) -> list[Made]:
    """As :func:`chunk_document`, for each document in order; the first error ends it all.

    Only the embedder's calls overlap: the rest runs in the event loop, as in the seed. Unlike there, no document is in work
    any more when the error is raised, or when the task was cancelled.

    Parameters
    ----------
    documents
        With a bound each is taken when there is room for it.
    max_concurrency
        Documents in work at once; all of them when ``None``.

    Raises
    ------
    ValidationError
        When ``max_concurrency`` is not positive.
    FancyChunkError
        As the stages say, of the same class; the message begins with the document: ``documents[3]``. To an error of the
        embedder or the segmenter this is added as a note.
    """
    if max_concurrency is not None and max_concurrency <= 0:
        raise ValidationError(f"max_concurrency must be positive when set, got {max_concurrency}")

    async def made(document: str) -> Made:
        return await chunk_document(document, embedder, max_size, min_size=min_size, segmenter=segmenter)

    with span("fancychunk.chunk_documents", _attributes(documents, max_size, max_concurrency)):
        return await _all_made(documents, made, max_concurrency)


def _attributes(documents: Iterable[str], max_size: int, max_concurrency: int | None) -> dict[str, Value]:
    attributes: dict[str, Value] = {"fancychunk.max_size": max_size}
    if isinstance(documents, Sized):
        attributes["fancychunk.documents.count"] = len(documents)
    if max_concurrency is not None:
        attributes["fancychunk.max_concurrency"] = max_concurrency
    return attributes


async def _all_made(documents: Iterable[str], made: Callable[[str], Awaitable[Made]], most: int | None) -> list[Made]:
    failures: list[Exception] = []
    places = asyncio.Semaphore(most) if most is not None else None

    async def attempt(index: int, document: str) -> Made:
        try:
            return await made(document)
        except Exception as error:
            failures.append(_named(error, index))
            raise
        finally:
            if places is not None:
                places.release()

    tasks: list[asyncio.Task[Made]] = []
    try:
        for index, document in enumerate(documents):
            if places is not None:
                await places.acquire()
            if failures:
                break
            tasks.append(asyncio.create_task(attempt(index, document)))
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if failures:
            raise failures[0]
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _named(error: Exception, index: int) -> Exception:
    """The same error, which says what document it is about."""
    which = f"documents[{index}]"
    if isinstance(error, FancyChunkError):
        error.args = (f"{which}: {error}",)
    else:
        error.add_note(f"while chunking {which}")
    return error
