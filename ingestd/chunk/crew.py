"""Processes that chunk documents, as many at once as there are processes."""

import contextlib
import queue
import sys
import threading
from concurrent.futures import Future

from ingestd.children import Child, ChildDied
from ingestd.chunk.chunking import Chunked
from ingestd.chunk.failed import attempt
from ingestd.chunk.makers import Chunking
from ingestd.chunk.parcel import packed, unpacked
from ingestd.errors import ConfigurationError
from ingestd.model.document import Document

_MODULE = "ingestd.chunk.worker"
_NAME = "chunking"
_Order = tuple["Future[Chunked]", int, Document]


class Crew:
    """Processes started as documents need them; a thread of this process stands by each.

    They are spawned, not forked, and leave with this process, however it ends. :meth:`close` ends them at once: what they
    have in hand is lost.

    Parameters
    ----------
    chunking
        Given to each process.
    processes
        Most that run at once.

    Raises
    ------
    ValueError
        When the chunking cannot be given to another process; names the part.
    """

    def __init__(self, chunking: Chunking, processes: int) -> None:
        self._chunking = _parcel(chunking)
        self._processes = processes
        self._lock = threading.Lock()
        self._closed = False
        self._children: list[Child] = []
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def chunked(self, index: int, document: Document) -> "Future[Chunked]":
        """Chunks of the document, later.

        The future raises :class:`DocumentFailed` when chunking raises, or the process dies over it, and
        ``ConfigurationError``, or what the makers raise, when no process can be made ready.
        """
        future: Future[Chunked] = Future()
        self._orders.put((future, index, document))
        if len(self._threads) < self._processes:
            # A daemon: an interpreter that ends does not wait for documents that nobody will take.
            thread = threading.Thread(target=self._serve, name=f"{_NAME}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def close(self) -> None:
        """Kill the processes; return when all are gone."""
        with self._lock:
            self._closed = True
        with contextlib.suppress(queue.Empty):
            while (order := self._orders.get_nowait()) is not None:
                order[0].cancel()
        for child in self._children:
            _end(child)
        for _ in self._threads:
            self._orders.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        child: Child | None = None
        while (order := self._orders.get()) is not None:
            future, index, document = order
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if child is None or not child.alive:
                    child = self._started()
                with attempt(index, document.title):
                    made = _chunked(child, document)
                future.set_result(made)
                del made
            except BaseException as error:  # noqa: BLE001  # it is raised again, in the thread that takes the result
                future.set_exception(error)
            del order, future, document

    def _started(self) -> Child:
        child = Child(
            _MODULE, {"path": [str(entry) for entry in sys.path]}, name=_NAME, environment={"OMP_NUM_THREADS": "1"}
        )
        with self._lock:
            # From here on: making a counter may take long, and closing must not wait for it.
            self._children.append(child)
            closed = self._closed
        if closed:
            _end(child)
        try:
            child.call({"do": "prepare"}, self._chunking)
        except ChildDied as error:
            raise ConfigurationError(
                f"{error} over what makes the counter or the segmenter: pass processes=1 to run them in this process and see why"
            ) from error
        return child


def _chunked(child: Child, document: Document) -> Chunked:
    reply, parcel = child.call({"do": "chunk"}, packed(document))
    found = unpacked(parcel)
    if "raised" in reply:
        raise found
    chunked: Chunked = found
    return chunked


def _parcel(chunking: Chunking) -> bytes:
    for name in ("make_count", "make_segmenter", "make_embed"):
        try:
            packed(getattr(chunking, name))
        except Exception as error:  # PicklingError, AttributeError, TypeError, or what its own methods raise
            raise ValueError(
                f"{name} cannot be given to another process ({error}): define it at the top level of a module, or pass "
                "processes=1"
            ) from error
    return packed(chunking)


def _end(child: Child) -> None:
    if child.alive:
        child.kill()
    child.close(grace_seconds=0)
