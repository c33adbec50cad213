"""Chunking beside an event loop."""

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingestd.chunk import Chunked, ChunkOptions, chunk
from ingestd.chunk.compat import grain_growth
from ingestd.chunk.threads import Abandoned, Look, in_a_thread
from ingestd.chunk.unblocked import chunk_async
from ingestd_adapters.punctuation_segmenter import punctuation
from tests.unit.chunk.build import MAX_TOKENS, document, sentences, words
from tests.unit.chunk.makers import SECONDS

OPTIONS = ChunkOptions(max_size=60)
BEATS = 50
LONG = document(("h1", "A"), ("paragraph", sentences(400)))
BLOCKS = [{"type": "paragraph", "text": sentences(30), "page": 0} for _ in range(200)]


def chunked_async(count: Callable[[Sequence[str]], list[int]]):
    return chunk_async(LONG, OPTIONS, count, punctuation(), max_tokens=MAX_TOKENS)


def test_the_chunks_are_the_same() -> None:
    assert asyncio.run(chunked_async(words)) == chunk(LONG, OPTIONS, words, punctuation(), max_tokens=MAX_TOKENS)


def test_the_event_loop_goes_on_while_a_document_is_chunked() -> None:
    beaten = threading.Event()

    def patient(texts: Sequence[str]) -> list[int]:
        # A loop that waits for the chunks never sets it.
        assert beaten.wait(SECONDS)
        return words(texts)

    async def beating() -> Chunked:
        task = asyncio.ensure_future(chunked_async(patient))
        for _ in range(BEATS):
            await asyncio.sleep(0)
        beaten.set()
        return await task

    assert len(asyncio.run(beating()).chunks) > 1


def test_the_event_loop_goes_on_while_blocks_grow() -> None:
    beaten = threading.Event()

    class Patient(list[dict[str, object]]):
        """Blocks that wait to be read: a loop that waits for the chunks never sets the event."""

        def __iter__(self):
            assert beaten.wait(SECONDS)
            return super().__iter__()

    async def beating() -> tuple[list[Any], list[Any]]:
        task = asyncio.ensure_future(grain_growth.chunk_document_async(Patient(BLOCKS), "f", 300, 400))
        for _ in range(BEATS):
            await asyncio.sleep(0)
        beaten.set()
        return await task

    assert len(asyncio.run(beating())[0]) > 1


def test_a_cancelled_task_ends_its_thread_at_the_next_count() -> None:
    counting, cancelled, ended = threading.Event(), threading.Event(), threading.Event()
    calls: list[int] = []

    class Ending:
        """Says when nobody holds the counter any more."""

        def __call__(self, texts: Sequence[str]) -> list[int]:
            calls.append(len(texts))
            counting.set()
            assert cancelled.wait(SECONDS)
            return words(texts)

        def __del__(self) -> None:
            ended.set()

    async def cancel() -> None:
        task = asyncio.ensure_future(chunked_async(Ending()))
        await asyncio.to_thread(counting.wait, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(cancel())
    assert ended.wait(SECONDS)
    assert len(calls) == 1


def test_work_in_a_thread_is_told_that_nobody_waits() -> None:
    looked: list[bool] = []
    at_work, cancelled, told = threading.Event(), threading.Event(), threading.Event()

    def work(look: Look) -> None:
        look()
        at_work.set()
        assert cancelled.wait(SECONDS)
        try:
            look()
        except Abandoned:
            looked.append(True)
            raise
        finally:
            told.set()

    async def cancel() -> None:
        task = asyncio.ensure_future(in_a_thread(work))
        await asyncio.to_thread(at_work.wait, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(cancel())
    assert told.wait(SECONDS)
    assert looked == [True]


def test_a_cancelled_growth_reads_no_further_blocks() -> None:
    at_work, cancelled = threading.Event(), threading.Event()
    ended = threading.Event()

    class Title(str):
        """Heads every section; the first use waits for the cancellation."""

        __slots__ = ()
        uses = 0

        def __format__(self, spec: str) -> str:
            Title.uses += 1
            at_work.set()
            assert cancelled.wait(SECONDS)
            return super().__format__(spec)

        def __del__(self) -> None:
            ended.set()

    blocks = [{"type": kind, "text": "Some words.", "page": 0} for _ in range(100) for kind in ("section", "paragraph")]

    async def cancel() -> None:
        task = asyncio.ensure_future(grain_growth.chunk_document_async(blocks, Title("f")))
        await asyncio.to_thread(at_work.wait, SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(cancel())
    assert ended.wait(SECONDS)
    assert 0 < Title.uses < 100


@pytest.mark.parametrize("sizes", [(), (300, 400), (300, 400, 1)])
def test_the_grains_are_the_same(sizes: tuple[int, ...]) -> None:
    assert asyncio.run(grain_growth.chunk_document_async(BLOCKS, "f", *sizes)) == grain_growth.chunk_document(
        BLOCKS, "f", *sizes
    )
    grown = asyncio.run(grain_growth.grow_async(BLOCKS, "f", *sizes))
    assert grown == grain_growth.grow(BLOCKS, "f", *sizes)


def test_files_and_documents_of_others_are_read_the_same(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text(json.dumps({"blocks": BLOCKS, "source": "here"}), encoding="utf-8")
    assert asyncio.run(grain_growth.load_blocks_async(file)) == grain_growth.load_blocks(file)
    assert asyncio.run(grain_growth.chunk_file_async(file, 300)) == grain_growth.chunk_file(file, 300)
    assert asyncio.run(grain_growth.validate_blocks_async([{}], strict=False)) == grain_growth.validate_blocks(
        [{}], strict=False
    )
    elements = [SimpleNamespace(category="Title", text="A"), SimpleNamespace(category="NarrativeText", text="b")]
    assert asyncio.run(grain_growth.from_unstructured_async(elements, "T")) == grain_growth.from_unstructured(
        elements, "T"
    )
    items = SimpleNamespace(texts=[SimpleNamespace(label="text", text="b", prov=[])], tables=None)
    assert asyncio.run(grain_growth.from_docling_async(items)) == grain_growth.from_docling(items) != []


def test_every_async_form_has_the_name_and_the_parameters_of_its_function() -> None:
    names = [name for name in grain_growth.__all__ if name.endswith("_async")]
    assert len(names) == 7
    for name in names:
        form, function = getattr(grain_growth, name), getattr(grain_growth, name.removesuffix("_async"))
        assert inspect.iscoroutinefunction(form)
        assert form.__name__ == name
        assert inspect.signature(form).parameters == inspect.signature(function).parameters
