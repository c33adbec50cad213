"""Chunks of a document for callers that live in an event loop."""

from collections.abc import Sequence

from ingestd.chunk.chunking import Chunked, Embed, chunk
from ingestd.chunk.options import ChunkOptions
from ingestd.chunk.threads import Look, in_a_thread
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter


async def chunk_async(
    document: Document,
    options: ChunkOptions,
    count: TokenCounter,
    segmenter: Segmenter,
    *,
    max_tokens: int,
    embed: Embed | None = None,
) -> Chunked:
    """As :func:`ingestd.chunk.chunk`, in a thread.

    ``count``, ``segmenter`` and ``embed`` are called there. The event loop goes on meanwhile; when the task is cancelled, the thread
    ends at its next call of ``count``. Threads share one processor: for many documents see
    :func:`~ingestd.chunk.many.chunk_documents_async`.
    """

    def work(look: Look) -> Chunked:
        def counted(texts: Sequence[str]) -> list[int]:
            look()
            return count(texts)

        return chunk(document, options, counted, segmenter, max_tokens=max_tokens, embed=embed)

    return await in_a_thread(work)
