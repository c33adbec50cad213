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

    ``count``, ``segmenter`` and ``embed`` are called there. The event loop goes on meanwhile; when the task is cancelled, the
    thread ends at its next call of ``count``. What a thread cannot do is share Python's garbage collection: a full one
    stopped the loop for 0.2 s beside a document of 1.5 MB (2026-12). The worker processes of
    :func:`~ingestd.chunk.many.chunk_documents_async` spare the loop that too, and use more than one processor.
    """

    def work(look: Look) -> Chunked:
        def counted(texts: Sequence[str]) -> list[int]:
            look()
            return count(texts)

        return chunk(document, options, counted, segmenter, max_tokens=max_tokens, embed=embed)

    return await in_a_thread(work)
