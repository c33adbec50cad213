"""Chunks of many documents, in worker processes, in the order of the documents."""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from concurrent.futures import Future

from ingestd.chunk.chunking import Chunked
from ingestd.chunk.crew import Crew
from ingestd.chunk.drawing import drawn
from ingestd.chunk.failed import attempt
from ingestd.chunk.makers import Chunking, chunk_with, tools
from ingestd.chunk.options import sizes_of
from ingestd.chunk.tracing import Span, Value, begun, within
from ingestd.chunk.unblocked import chunk_async
from ingestd.model.document import Document

_IN_HAND = 2
"""Documents for each process that are in work, wait for one, or are done before their turn: what the memory holds."""


def chunk_documents(
    documents: Iterable[Document], chunking: Chunking, *, processes: int | None = None
) -> Generator[Chunked, None, None]:
    """Chunk one document after the other, several at once.

    Parameters
    ----------
    documents
        Taken as they are needed: at most two for each process are in hand, so a generator of any length will do.
    processes
        Worker processes, at most; as many as this process may use processors when ``None``. With 0 or 1 all is done in
        this process, a document when it is asked for.

    Yields
    ------
    Chunked
        For each document, in their order. When the generator is closed, or goes out of use, the processes end at once.

    Raises
    ------
    ValueError
        When an option is out of its range, or what makes a tool cannot be given to another process; at once.
    DocumentFailed
        At the place of the first document that cannot be chunked, or whose process died; names it. Nothing is yielded
        after it.
    ConfigurationError, AdapterUnavailable
        When a tool cannot be made.
    """
    most = _checked(chunking, processes)
    if most < 2:
        return _here(documents, chunking)
    return _in_processes(documents, Crew(chunking, most), chunking, most)


def chunk_documents_async(
    documents: Iterable[Document] | AsyncIterable[Document], chunking: Chunking, *, processes: int | None = None
) -> AsyncGenerator[Chunked, None]:
    """As :func:`chunk_documents`, for a caller in an event loop, which goes on meanwhile.

    ``documents`` may be asynchronous; an ordinary iterator is run in a thread. With ``processes`` 0 or 1 a thread of this
    process chunks. When the task that runs the generator is cancelled, or the generator is closed, the processes end at
    once, and a thread at its next call of the token counter.
    """
    most = _checked(chunking, processes)
    if most < 2:
        return _in_a_thread(documents, chunking)
    return _awaited(documents, Crew(chunking, most), chunking, most)


def _checked(chunking: Chunking, processes: int | None) -> int:
    sizes_of(chunking.options)
    if processes is not None and processes < 0:
        raise ValueError(f"processes must be at least 0; got {processes}")
    return _processors() if processes is None else processes


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _here(documents: Iterable[Document], chunking: Chunking) -> Generator[Chunked, None, None]:
    made = tools(chunking)
    with _traced(chunking, 0) as span:
        for index, document in enumerate(documents):
            span.set_attribute(_COUNT, index + 1)
            with within(span), attempt(index, document.title):
                chunked = chunk_with(made, chunking, document)
            yield chunked


def _in_processes(
    documents: Iterable[Document], crew: Crew, chunking: Chunking, processes: int
) -> Generator[Chunked, None, None]:
    in_hand: deque[Future[Chunked]] = deque()
    with contextlib.closing(crew), _traced(chunking, processes) as span:
        for index, document in enumerate(documents):
            span.set_attribute(_COUNT, index + 1)
            in_hand.append(crew.chunked(index, document))
            if len(in_hand) >= _IN_HAND * processes:
                yield in_hand.popleft().result()
        while in_hand:
            yield in_hand.popleft().result()


async def _in_a_thread(
    documents: Iterable[Document] | AsyncIterable[Document], chunking: Chunking
) -> AsyncGenerator[Chunked, None]:
    made = await asyncio.to_thread(tools, chunking)
    index = 0
    with _traced(chunking, 0) as span:
        async with contextlib.aclosing(drawn(documents)) as source:
            async for document in source:
                span.set_attribute(_COUNT, index + 1)
                with within(span), attempt(index, document.title):
                    chunked = await chunk_async(
                        document,
                        chunking.options,
                        made.count,
                        made.segmenter,
                        max_tokens=chunking.max_tokens,
                        embed=made.embed,
                    )
                yield chunked
                index += 1


async def _awaited(
    documents: Iterable[Document] | AsyncIterable[Document], crew: Crew, chunking: Chunking, processes: int
) -> AsyncGenerator[Chunked, None]:
    in_hand: deque[Future[Chunked]] = deque()
    index = 0
    try:
        with _traced(chunking, processes) as span:
            async with contextlib.aclosing(drawn(documents)) as source:
                async for document in source:
                    in_hand.append(crew.chunked(index, document))
                    index += 1
                    span.set_attribute(_COUNT, index)
                    if len(in_hand) >= _IN_HAND * processes:
                        yield await asyncio.wrap_future(in_hand.popleft())
            while in_hand:
                yield await asyncio.wrap_future(in_hand.popleft())
    finally:
        await asyncio.to_thread(crew.close)


_COUNT = "ingestd.documents.count"


@contextlib.contextmanager
def _traced(chunking: Chunking, processes: int) -> Generator[Span, None, None]:
    attributes: dict[str, Value] = {"ingestd.chunker": chunking.options.name, "ingestd.processes": processes}
    span = begun("ingestd.chunk_documents", attributes)
    try:
        yield span
    finally:
        span.end()
