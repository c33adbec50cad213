"""Many documents: bounded, in order, the first error named, nothing left in work."""

import asyncio
import inspect
from collections.abc import Iterator

import numpy as np
import pytest

from ingestd.chunk.compat import structure_first
from ingestd.chunk.compat.structure_first import (
    FancyChunkError,
    ValidationError,
    chunk_document,
    chunk_documents,
    punctuation_segmenter,
)
from tests.unit.chunk.compat.structure_first.fakes import DrawnEmbedder

LARGE = "x y. " * 40
DOCUMENTS = ["# A\nfoo", "", LARGE, "# B\n\n" + "Some words. " * 30, "   ", "a"]


class Watched(DrawnEmbedder):
    """Counts the documents in work; fails at a word."""

    def __init__(self) -> None:
        super().__init__(n_ctx=100)
        self.in_work = 0
        self.most = 0
        self.ended = 0
        self.two_in_work = asyncio.Event()

    async def count_tokens(self, texts: list[str], /) -> list[int]:
        self.in_work += 1
        self.most = max(self.most, self.in_work)
        if self.in_work == 2:
            self.two_in_work.set()
        try:
            for _ in range(5):
                await asyncio.sleep(0)
            if any("broken" in text for text in texts):
                raise OSError("the device is gone")
            if any("endless" in text for text in texts):
                await asyncio.Event().wait()
        finally:
            self.in_work -= 1
            self.ended += 1
        return await super().count_tokens(texts)


def check(made: list, documents: list[str]) -> None:
    for (chunks, vectors), text in zip(made, documents, strict=True):
        alone, alone_vectors = asyncio.run(
            chunk_document(text, DrawnEmbedder(n_ctx=100), 60, segmenter=punctuation_segmenter)
        )
        assert chunks == alone
        np.testing.assert_allclose(vectors, alone_vectors)


@pytest.mark.parametrize("bound", [None, 1, 2, 100])
def test_the_documents_come_in_order_whatever_the_bound(bound: int | None) -> None:
    made = asyncio.run(chunk_documents(DOCUMENTS, DrawnEmbedder(n_ctx=100), 60, bound, segmenter=punctuation_segmenter))
    check(made, DOCUMENTS)


def test_no_more_documents_are_in_work_than_are_allowed() -> None:
    for bound, most in ((2, 2), (None, 7)):
        embedder = Watched()
        asyncio.run(chunk_documents(["a word"] * 7, embedder, 60, bound))
        assert embedder.most == most


def test_documents_may_come_from_a_generator_as_there_is_room() -> None:
    embedder, drawn = Watched(), []

    def documents() -> Iterator[str]:
        for number in range(6):
            drawn.append((number, embedder.ended))
            yield f"word {number}"

    assert len(asyncio.run(chunk_documents(documents(), embedder, 60, 2))) == 6
    assert all(number - ended <= 2 for number, ended in drawn)
    assert asyncio.run(chunk_documents(iter(()), embedder, 60)) == []


def test_an_error_of_the_stages_begins_with_the_document() -> None:
    with pytest.raises(ValidationError, match=r"^documents\[2\]: segmenter is missing"):
        asyncio.run(chunk_documents(["a", "b", LARGE, LARGE], DrawnEmbedder(), 60, 1))


def test_an_error_of_the_embedder_keeps_its_words_and_notes_the_document() -> None:
    with pytest.raises(OSError, match="the device is gone") as caught:
        asyncio.run(chunk_documents(["a", "broken"], Watched(), 60))
    assert str(caught.value) == "the device is gone"
    assert caught.value.__notes__ == ["while chunking documents[1]"]


def test_nothing_is_in_work_when_the_first_error_is_raised() -> None:
    embedder = Watched()

    async def outcome() -> None:
        with pytest.raises(OSError, match="the device is gone"):
            await chunk_documents(["endless", "broken", "endless"], embedder, 60, 3)
        assert embedder.in_work == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(outcome())


def test_nothing_is_in_work_when_the_task_was_cancelled() -> None:
    embedder = Watched()

    async def cancel() -> None:
        task = asyncio.ensure_future(chunk_documents(["endless"] * 4, embedder, 60, 2))
        await embedder.two_in_work.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert embedder.in_work == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancel())


def test_after_an_error_no_further_document_is_taken() -> None:
    drawn: list[int] = []

    def documents() -> Iterator[str]:
        for number in range(100):
            drawn.append(number)
            yield "broken"

    with pytest.raises(OSError, match="the device is gone"):
        asyncio.run(chunk_documents(documents(), Watched(), 60, 2))
    assert len(drawn) < 10


def test_a_bound_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="max_concurrency must be positive when set"):
        asyncio.run(chunk_documents([], DrawnEmbedder(), max_concurrency=0))


def test_the_synchronous_forms_give_the_same() -> None:
    embedder = DrawnEmbedder(n_ctx=100)
    made = structure_first.chunk_documents_sync(DOCUMENTS, embedder, 60, 2, segmenter=punctuation_segmenter)
    check(made, DOCUMENTS)
    chunks, vectors = structure_first.chunk_document_sync(LARGE, embedder, 60, segmenter=punctuation_segmenter)
    assert chunks == structure_first.split_chunks_structure_first_sync(
        LARGE, embedder, 60, segmenter=punctuation_segmenter
    )
    np.testing.assert_allclose(vectors, structure_first.embed_with_late_chunking_sync(chunks, embedder))
    sentences = structure_first.split_sentences(LARGE, segmenter=punctuation_segmenter)
    chunklets = structure_first.split_chunklets(sentences, 60)
    assert "".join(map(str, structure_first.split_chunks_sync(chunklets, embedder, 60))) == LARGE


def test_the_synchronous_forms_have_the_parameters_of_the_asynchronous_ones() -> None:
    names = [name for name in structure_first.__all__ if name.endswith("_sync")]
    assert len(names) == 5
    for name in names:
        form, function = getattr(structure_first, name), getattr(structure_first, name.removesuffix("_sync"))
        assert not inspect.iscoroutinefunction(form)
        assert inspect.iscoroutinefunction(function)
        assert form.__name__ == name
        assert inspect.signature(form).parameters == inspect.signature(function).parameters


def test_a_synchronous_form_inside_an_event_loop_says_what_to_do() -> None:
    async def inside() -> None:
        structure_first.chunk_document_sync("a", DrawnEmbedder())

    with pytest.raises(
        FancyChunkError, match="chunk_document_sync was called inside an event loop: await chunk_document"
    ):
        asyncio.run(inside())
