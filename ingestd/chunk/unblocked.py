"""Work of the processor in a thread, for callers that live in an event loop."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from ingestd.chunk.chunking import Chunked, chunk
from ingestd.chunk.options import ChunkOptions
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

_Result = TypeVar("_Result")


class Abandoned(Exception):
    """Ends a thread whose result nobody waits for any more; no caller ever sees it."""


async def chunk_async(
    document: Document, options: ChunkOptions, count: TokenCounter, segmenter: Segmenter, *, max_tokens: int
) -> Chunked:
    """As :func:`ingestd.chunk.chunk`, in a thread.

    ``count`` and ``segmenter`` are called there. The event loop goes on meanwhile; when the task is cancelled, the thread
    ends at its next call of ``count``. Threads share one processor: for many documents see
    :func:`ingestd.chunk.chunk_documents_async`.
    """

    def work(look: Callable[[], None]) -> Chunked:
        def counted(texts: Sequence[str]) -> list[int]:
            look()
            return count(texts)

        return chunk(document, options, counted, segmenter, max_tokens=max_tokens)

    return await unblocked(work)


async def unblocked(work: Callable[[Callable[[], None]], _Result]) -> _Result:
    """Run the work in a thread of the event loop's executor.

    Parameters
    ----------
    work
        Is given a function to call now and then: it raises once the task was cancelled.
    """
    abandoned = threading.Event()

    def look() -> None:
        if abandoned.is_set():
            raise Abandoned

    try:
        return await asyncio.to_thread(work, look)
    finally:
        abandoned.set()
