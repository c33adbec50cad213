"""Many documents: the same chunks in order, a bound on what is in hand, nothing left behind."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.chunk import Chunked, ChunkOptions, chunk
from ingestd.chunk.failed import DocumentFailed
from ingestd.chunk.makers import Chunking, named_counter, named_segmenter
from ingestd.chunk.many import chunk_documents, chunk_documents_async
from ingestd.errors import ConfigurationError
from ingestd.model.document import Block, BlockType, Document
from ingestd_adapters.punctuation_segmenter import punctuation
from tests.unit.chunk import makers
from tests.unit.chunk.build import MAX_TOKENS, document, sentences, words

ROOT = Path(__file__).parents[3]
OPTIONS = ChunkOptions(max_size=60)
MANY = 20


def manual(number: int, word: str = "alpha") -> Document:
    """Documents of different lengths."""
    text = ("paragraph", sentences(3 + 7 * (number % 3), word))
    return document(("h1", f"Chapter {number}"), text, title=f"Manual {number}")


def overlapping() -> Document:
    blocks = [Block(type=BlockType.PARAGRAPH, text="ab", start=0, end=2) for _ in range(2)]
    return Document(title="Overlapping", markdown="ab", blocks=tuple(blocks))


def chunking(make_count: Callable[[], Callable], options: ChunkOptions = OPTIONS) -> Chunking:
    return Chunking(
        options=options, make_count=make_count, make_segmenter=makers.make_punctuation, max_tokens=MAX_TOKENS
    )


def many(
    documents: Iterable[Document],
    processes: int,
    make_count: Callable[[], Callable] = makers.make_words,
    options: ChunkOptions = OPTIONS,
):
    return chunk_documents(documents, chunking(make_count, options), processes=processes)


def many_async(documents: object, processes: int, make_count: Callable[[], Callable] = makers.make_words):
    return chunk_documents_async(documents, chunking(make_count), processes=processes)


def alone(made: Document) -> Chunked:
    return chunk(made, OPTIONS, words, punctuation(), max_tokens=MAX_TOKENS)


async def taken(generator: AsyncIterator[Chunked]) -> list[Chunked]:
    return [one async for one in generator]


class Drawn:
    """Documents without end, counted."""

    def __init__(self) -> None:
        self.count = 0
        self.threads: set[int] = set()

    def __iter__(self) -> Iterator[Document]:
        while True:
            self.threads.add(threading.get_ident())
            self.count += 1
            yield manual(self.count)


def gone(folder: Path) -> bool:
    """Whether no process that left its number in the folder is there."""
    return not any(is_there(int(file.name)) for file in folder.iterdir())


def is_there(process: int) -> bool:
    with contextlib.suppress(OSError):
        # One that nobody has waited for yet is gone as well.
        return Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.parametrize("processes", [0, 1, 2])
def test_the_chunks_are_those_of_each_document_alone_in_order(processes: int) -> None:
    documents = [manual(number) for number in range(7)]
    assert list(many(documents, processes)) == [alone(one) for one in documents]


@pytest.mark.parametrize("processes", [0, 2])
def test_in_an_event_loop_the_chunks_are_the_same(processes: int) -> None:
    documents = [manual(number) for number in range(5)]
    assert asyncio.run(taken(many_async(iter(documents), processes))) == [alone(one) for one in documents]


@pytest.mark.parametrize("processes", [0, 2])
def test_no_documents_give_nothing(processes: int) -> None:
    assert list(many([], processes)) == []
    assert asyncio.run(taken(many_async([], processes))) == []


def test_the_tools_are_found_by_their_names() -> None:
    named = Chunking(
        options=OPTIONS,
        make_count=named_counter("hash", {"max_tokens": 64}),
        make_segmenter=named_segmenter("punctuation"),
        max_tokens=64,
    )
    made = chunk_documents([manual(1)], named)
    assert [len(one.chunks) > 1 for one in made] == [True]


@pytest.mark.parametrize(("processes", "most"), [(0, 1), (2, 4)])
def test_documents_are_taken_as_they_are_needed(processes: int, most: int) -> None:
    documents = Drawn()
    with contextlib.closing(many(documents, processes)) as made:
        assert documents.count == 0
        for number in range(1, 4):
            assert next(made) == alone(manual(number))
            assert documents.count <= number - 1 + most


def test_options_are_checked_before_any_document_is_taken() -> None:
    with pytest.raises(ValueError, match="max_size must be at least"):
        many(Drawn(), 0, options=ChunkOptions(max_size=1))
    with pytest.raises(ValueError, match="processes must be at least 0; got -1"):
        many(Drawn(), -1)


@pytest.mark.parametrize("processes", [0, 2])
def test_the_first_document_that_fails_is_named(processes: int) -> None:
    made = many([manual(1), overlapping(), manual(2), overlapping()], processes)
    assert next(made) == alone(manual(1))
    with pytest.raises(DocumentFailed, match=r"documents\[1\] \('Overlapping'\): ValueError: block 1") as caught:
        next(made)
    assert (caught.value.index, caught.value.title) == (1, "Overlapping")
    assert isinstance(caught.value.__cause__, ValueError)
    assert list(made) == []


@pytest.mark.parametrize("processes", [0, 2])
def test_in_an_event_loop_the_first_document_that_fails_is_named(processes: int) -> None:
    with pytest.raises(DocumentFailed, match=r"documents\[0\] \('Overlapping'\)"):
        asyncio.run(taken(many_async([overlapping(), manual(1)], processes)))


def test_a_process_that_dies_names_the_document_it_had() -> None:
    deadly = document(("paragraph", f"A {makers.DEADLY} word."), title="Deadly")
    made = many([manual(1), deadly, manual(2)], 2, makers.make_deadly)
    assert next(made) == alone(manual(1))
    with pytest.raises(
        DocumentFailed, match=r"documents\[1\] \('Deadly'\): ChildDied: .*process died \(exit status -9\)"
    ):
        next(made)


def test_an_error_that_cannot_be_copied_is_told_in_words() -> None:
    mute = document(("paragraph", f"An {makers.UNTELLABLE} word."), title="Mute")
    with pytest.raises(
        DocumentFailed, match=r"documents\[0\] \('Mute'\): RuntimeError: Untellable: no tokens"
    ) as caught:
        list(many([mute], 2, makers.make_mute))
    assert "in _mute" in "".join(caught.value.__cause__.__notes__)


def test_an_error_of_the_documents_own_iterable_passes() -> None:
    def broken() -> Iterator[Document]:
        yield manual(1)
        raise LookupError("the list is lost")

    for processes in (0, 2):
        with pytest.raises(LookupError, match="the list is lost"):
            list(many(broken(), processes))
        with pytest.raises(LookupError, match="the list is lost"):
            asyncio.run(taken(many_async(broken(), processes)))


@pytest.mark.parametrize("processes", [0, 2])
def test_a_counter_that_cannot_be_made_is_named(processes: int) -> None:
    with pytest.raises(ConfigurationError, match=r"make_count raised FileNotFoundError: tokenizer.json is gone"):
        list(many([manual(1)], processes, makers.make_nothing))


def test_a_counter_that_ends_its_process_is_told() -> None:
    with pytest.raises(ConfigurationError, match=r"exit status 3\) over what makes the counter .* processes=1"):
        list(many([manual(1)], 2, makers.make_end))


def test_a_maker_that_no_other_process_can_have_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="make_count cannot be given to another process"):
        many([manual(1)], 2, lambda: words)
    assert len(list(many([manual(1)], 1, lambda: words))) == 1


def test_a_maker_of_a_script_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def make_in_script() -> Callable:
        return words

    make_in_script.__module__, make_in_script.__qualname__ = "__main__", "make_in_script"
    monkeypatch.setattr(sys.modules["__main__"], "make_in_script", make_in_script, raising=False)
    with pytest.raises(ConfigurationError, match="top level of a module that can be imported"):
        list(many([manual(1)], 2, make_in_script))


@pytest.mark.parametrize("processes", [0, 2])
def test_the_published_chunkers_are_used_the_same_way(processes: int) -> None:
    options = ChunkOptions(profile="compat", max_size=100)
    compat = replace(chunking(makers.make_words, options), make_embed=makers.make_ones)
    made = manual(2)
    expected = chunk(made, options, words, punctuation(), max_tokens=MAX_TOKENS, embed=makers.ones)
    assert len(expected.chunks) > 2
    assert asyncio.run(taken(chunk_documents_async([made], compat, processes=processes))) == [expected]


def test_no_process_is_left_when_the_generator_is_closed(tmp_path: Path) -> None:
    made = many(Drawn(), 2, makers.named_in(tmp_path))
    next(made)
    assert not gone(tmp_path)
    made.close()
    assert len(list(tmp_path.iterdir())) <= 2
    assert gone(tmp_path)


def test_no_process_is_left_when_the_task_is_cancelled(tmp_path: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(taken(many_async([manual(1)] * MANY, 2, makers.stuck_in(tmp_path))))
        await asyncio.to_thread(await_that, lambda: any(tmp_path.iterdir()))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancelled(), makers.SECONDS))
    assert gone(tmp_path)


def test_no_process_is_left_when_the_program_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.unit.chunk import makers; from tests.unit.chunk.test_many import *\n"
        "list(many([manual(1)] * 4, 2, makers.stuck_in(Path(sys.argv[1]))))"
    )
    program = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT)
    try:
        await_that(lambda: any(tmp_path.iterdir()))
    finally:
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
    await_that(lambda: gone(tmp_path))


def await_that(fact: Callable[[], bool]) -> None:
    waiting, tries = threading.Event(), int(makers.SECONDS / 0.05)
    assert any(fact() or waiting.wait(0.05) for _ in range(tries))


def test_an_iterator_runs_beside_the_event_loop() -> None:
    documents = Drawn()

    async def first() -> Chunked:
        async with contextlib.aclosing(many_async(documents, 0)) as made:
            return await anext(made)

    assert asyncio.run(first()) == alone(manual(1))
    assert threading.get_ident() not in documents.threads


def test_documents_may_come_asynchronously() -> None:
    async def coming() -> AsyncIterator[Document]:
        for number in range(3):
            await asyncio.sleep(0)
            yield manual(number)

    assert asyncio.run(taken(many_async(coming(), 0))) == [alone(manual(number)) for number in range(3)]
