"""Vectors of many documents, made while the next ones are chunked."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.chunking import Chunked, Embed
from ingestd.chunk.drawing import drawn
from ingestd.chunk.failed import attempt

Rows = NDArray[Any]
"""Shape ``(n, d)``, a row for a text, in their order."""
_AHEAD = 2
"""Documents being embedded or waiting for it, beside the one that is chunked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What became of a document, with the vectors of its chunks."""

    chunked: Chunked
    vectors: Rows
    """A row for a chunk, in their order; shape ``(0, 0)`` where there is none."""


def embed_chunked(chunked: Iterable[Chunked], embed: Embed) -> Generator[Embedded, None, None]:
    """Embed one document after the other, the next ones being chunked meanwhile.

    Parameters
    ----------
    chunked
        Such as :func:`ingestd.chunk.chunk_documents` gives. It is drawn one or two documents ahead, and closed with this
        generator.
    embed
        Vectors of texts; called in a thread, once for a document that has chunks, never twice at a time.

    Yields
    ------
    Embedded
        For each document, in their order.

    Raises
    ------
    DocumentFailed
        At the place of the first document that cannot be embedded; names it. Or as ``chunked`` raises.
    """
    waiting: deque[Future[Embedded]] = deque()
    thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
    try:
        for index, one in enumerate(chunked):
            waiting.append(thread.submit(_embedded, index, one, embed))
            if len(waiting) == _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        if isinstance(chunked, Generator):
            chunked.close()
        thread.shutdown(cancel_futures=True)


async def embed_chunked_async(
    chunked: Iterable[Chunked] | AsyncIterable[Chunked],
    embed: Callable[[list[str]], Awaitable[Rows]],
    *,
    concurrency: int = _AHEAD,
) -> AsyncGenerator[Embedded, None]:
    """As :func:`embed_chunked`, with an embedder that is awaited.

    Parameters
    ----------
    chunked
        Such as :func:`ingestd.chunk.chunk_documents_async` gives; an asynchronous generator is closed with this one.
    concurrency
        Calls of ``embed`` that may run at once.

    Raises
    ------
    ValueError
        When ``concurrency`` is not positive.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be at least 1; got {concurrency}")
    waiting: deque[asyncio.Task[Embedded]] = deque()
    index = 0
    try:
        async with contextlib.aclosing(drawn(chunked)) as source:
            async for one in source:
                waiting.append(asyncio.create_task(_embedded_async(index, one, embed)))
                index += 1
                if len(waiting) >= concurrency:
                    yield await waiting[0]
                    waiting.popleft()
        while waiting:
            yield await waiting[0]
            waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        if isinstance(chunked, AsyncGenerator):
            await chunked.aclose()


def _embedded(index: int, chunked: Chunked, embed: Embed) -> Embedded:
    if not chunked.chunks:
        return _empty(chunked)
    with attempt(index, chunked.chunks[0].title):
        return _checked(chunked, embed(_texts(chunked)))


async def _embedded_async(index: int, chunked: Chunked, embed: Callable[[list[str]], Awaitable[Rows]]) -> Embedded:
    if not chunked.chunks:
        return _empty(chunked)
    with attempt(index, chunked.chunks[0].title):
        return _checked(chunked, await embed(_texts(chunked)))


def _texts(chunked: Chunked) -> list[str]:
    return [chunk.text for chunk in chunked.chunks]


def _empty(chunked: Chunked) -> Embedded:
    return Embedded(chunked=chunked, vectors=np.zeros((0, 0), np.float32))


def _checked(chunked: Chunked, vectors: Rows) -> Embedded:
    shape = np.shape(vectors)
    if len(shape) != 2 or shape[0] != len(chunked.chunks):
        raise ValueError(
            f"embed gave an array of shape {shape} for {len(chunked.chunks)} texts; one row for each is needed"
        )
    return Embedded(chunked=chunked, vectors=vectors)
