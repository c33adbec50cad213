"""Vectors of many documents: made beside the chunking, in order, the first fault named."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence

import numpy as np
import pytest

from ingestd.chunk import Chunked
from ingestd.chunk.failed import DocumentFailed
from ingestd.chunk.vectored import Embedded, embed_chunked, embed_chunked_async
from tests.unit.chunk.build import chunked, document
from tests.unit.chunk.makers import SECONDS


def made(number: int) -> Chunked:
    """A document of so many chunks."""
    pieces = [
        ("h1", f"Chapter {place}") if place % 2 else ("paragraph", f"Text {place}.")
        for place in range(1, 2 * number + 1)
    ]
    one = chunked(document(*pieces, title=f"Manual {number}"))
    assert len(one.chunks) == number
    return one


def lengths(texts: Sequence[str]) -> np.ndarray:
    return np.array([[len(text), 1.0] for text in texts])


def check(embedded: list[Embedded], numbers: Sequence[int]) -> None:
    for one, number in zip(embedded, numbers, strict=True):
        assert one.chunked == made(number)
        expected = lengths([chunk.text for chunk in one.chunked.chunks]) if number else np.zeros((0, 0))
        np.testing.assert_array_equal(one.vectors, expected)


async def taken(generator: AsyncIterator[Embedded]) -> list[Embedded]:
    return [one async for one in generator]


async def lengths_async(texts: Sequence[str]) -> np.ndarray:
    await asyncio.sleep(0)
    return lengths(texts)


def test_each_document_comes_with_the_vectors_of_its_chunks() -> None:
    numbers = [2, 0, 3, 1]
    check(list(embed_chunked(map(made, numbers), lengths)), numbers)
    check(asyncio.run(taken(embed_chunked_async(map(made, numbers), lengths_async))), numbers)
    assert list(embed_chunked([], lengths)) == []


def test_a_document_is_embedded_while_the_next_is_chunked() -> None:
    next_is_chunked = threading.Event()

    def chunking() -> Iterator[Chunked]:
        yield made(1)
        # Before the vectors of the first are asked for; they are not made before this.
        next_is_chunked.set()
        yield made(2)

    def embed(texts: Sequence[str]) -> np.ndarray:
        assert next_is_chunked.wait(SECONDS)
        return lengths(texts)

    check(list(embed_chunked(chunking(), embed)), [1, 2])


def test_no_more_than_two_documents_are_drawn_ahead() -> None:
    drawn: list[int] = []

    def chunking() -> Iterator[Chunked]:
        while True:
            drawn.append(len(drawn))
            yield made(1)

    embedded = embed_chunked(chunking(), lengths)
    assert drawn == []
    next(embedded)
    assert len(drawn) <= 2
    next(embedded)
    assert len(drawn) <= 3
    embedded.close()


def test_so_many_calls_of_the_embedder_run_at_once_as_are_allowed() -> None:
    running, most = 0, 0

    async def embed(texts: Sequence[str]) -> np.ndarray:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1
        return lengths(texts)

    numbers = [1, 2, 3, 1, 2, 3]
    check(asyncio.run(taken(embed_chunked_async([made(one) for one in numbers], embed, concurrency=3))), numbers)
    assert most == 3


def test_a_document_that_cannot_be_embedded_is_named() -> None:
    def embed(texts: Sequence[str]) -> np.ndarray:
        if len(texts) == 2:
            raise MemoryError("the device is full")
        return lengths(texts)

    async def embed_async(texts: Sequence[str]) -> np.ndarray:
        return embed(texts)

    match = r"documents\[1\] \('Manual 2'\): MemoryError: the device is full"
    with pytest.raises(DocumentFailed, match=match) as caught:
        list(embed_chunked(map(made, [1, 2, 3]), embed))
    assert isinstance(caught.value.__cause__, MemoryError)
    with pytest.raises(DocumentFailed, match=match):
        asyncio.run(taken(embed_chunked_async(map(made, [1, 2, 3]), embed_async)))


def test_vectors_of_another_number_than_the_texts_are_refused() -> None:
    with pytest.raises(DocumentFailed, match=r"embed gave an array of shape \(1, 2\) for 2 texts"):
        list(embed_chunked([made(2)], lambda texts: lengths(texts)[:1]))


def test_the_chunking_is_closed_with_the_embedding() -> None:
    closed: list[str] = []

    def chunking() -> Iterator[Chunked]:
        try:
            while True:
                yield made(1)
        finally:
            closed.append("here")

    async def chunking_async() -> AsyncIterator[Chunked]:
        try:
            while True:
                yield made(1)
        finally:
            closed.append("there")

    async def first() -> None:
        embedded = embed_chunked_async(chunking_async(), lengths_async)
        await anext(embedded)
        await embedded.aclose()
        assert closed == ["here", "there"]

    source = chunking()
    embedded = embed_chunked(source, lengths)
    next(embedded)
    embedded.close()
    assert closed == ["here"]
    asyncio.run(first())


def test_a_concurrency_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="concurrency must be at least 1; got 0"):
        asyncio.run(taken(embed_chunked_async([], lengths_async, concurrency=0)))
