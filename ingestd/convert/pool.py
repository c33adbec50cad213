"""Warm processes of one converter, replaced when they die, grow or have served long enough."""

import contextlib
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestd.children import Child, ChildDied, ChildTimeout, Reply
from ingestd.convert.confinement import SCRATCH, address_space_bytes
from ingestd.convert.options import ConvertOptions
from ingestd.errors import AdapterUnavailable, ConversionCrashed, ConversionMemory, ConversionTimeout, TransientError

_LOG = logging.getLogger(__name__)
_START_SECONDS = 120.0
_GROWTH = 2
_GROWTH_FROM_BYTES = 256 * 1024 * 1024
"""Doubling from a small baseline is no leak: a process below this is kept."""
_LOOK_SECONDS = 0.1
_NICE = 10
_MODULE = "ingestd.convert.worker"


@dataclass(slots=True)
class _Worker:
    child: Child
    scratch: Path
    baseline_bytes: int
    served: int = 0

    def stop(self) -> None:
        """End the process; one that is dead is not signalled again, for its number may be another's by now."""
        if self.child.alive:
            self.child.kill()
        self.child.close(grace_seconds=0)
        shutil.rmtree(self.scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Pages:
    """What decides a document's deadline."""

    all: int = 0
    by_ocr: int = 0

    def __str__(self) -> str:
        pages = f" for {self.all} pages" if self.all else ""
        return f"{pages}, {self.by_ocr} of them by OCR," if self.by_ocr else pages


class Pool:
    """Processes of one converter; as many run as callers are inside :meth:`convert`."""

    def __init__(
        self, converter: str, adapter_options: Mapping[str, Any], limits: ConvertOptions, scratch: Path
    ) -> None:
        """Start nothing yet; ``scratch`` is where each process gets a private folder."""
        self._converter = converter
        self._adapter_options = dict(adapter_options)
        self._limits = limits
        self._scratch = scratch
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._closed = False

    def convert(self, *, path: Path, name: str, mime: str) -> bytes:
        """JSON of the converted document.

        Raises
        ------
        ConversionTimeout, ConversionMemory, ConversionCrashed
            The process was over a limit, or died; another takes its place.
        PermanentError
            What the converter found.
        TransientError
            The pool was closed meanwhile.
        """
        file = {"path": os.fsencode(path).hex(), "name": name, "mime": mime}
        with self._worker() as worker:
            with _peak(worker.child.pid) as peak:
                try:
                    pages = self._ask(worker, {"do": "inspect", **file}, _Pages(), name)[0]["pages"]
                    # Which pages have no text takes a look at each: not within the time of a file without pages.
                    survey, _ = self._ask(worker, {"do": "survey", **file}, _Pages(pages), name)
                    seen = _Pages(pages, survey["ocr_pages"])
                    reply, document = self._ask(worker, {"do": "convert", **file}, seen, name)
                except ChildDied as error:
                    raise self._death(error, name, peak) from error
            worker.served += 1
            worker.baseline_bytes = max(worker.baseline_bytes, int(reply["baseline_bytes"]))
            self._keep_or_recycle(worker, int(reply["resident_bytes"]))
            return document

    def warm(self) -> None:
        """Have one process ready for the next file; raises as :meth:`convert` does when it does not start."""
        with self._worker():
            pass

    def pids(self) -> tuple[int, ...]:
        """Processes that this pool has now."""
        with self._lock:
            return tuple(worker.child.pid for worker in (*self._idle, *self._busy) if worker.child.alive)

    def close(self) -> None:
        """Kill all processes; conversions in hand end with a :class:`TransientError`."""
        with self._lock:
            self._closed = True
            workers = [*self._idle, *self._busy]
            self._idle.clear()
        for worker in workers:
            worker.stop()

    def _ask(self, worker: _Worker, request: dict[str, Any], pages: _Pages, name: str) -> Reply:
        deadline = self._limits.deadline_seconds(pages.all, pages.by_ocr)
        try:
            return worker.child.call(request, timeout_seconds=deadline)
        except ChildTimeout as error:
            raise ConversionTimeout(
                f"{name}: the {self._converter} converter was not done within {deadline:g} s{pages} and was killed"
            ) from error

    @contextlib.contextmanager
    def _worker(self) -> Generator[_Worker, None, None]:
        """A process for the caller alone; it goes back to the pool if it still lives."""
        worker = self._take() or self._start()
        try:
            yield worker
        finally:
            with self._lock:
                self._busy.remove(worker)
                keep = worker.child.alive and not self._closed
                if keep:
                    self._idle.append(worker)
            if not keep:
                worker.stop()

    def _take(self) -> _Worker | None:
        with self._lock:
            self._refuse_when_closed()
            while self._idle:
                worker = self._idle.pop()
                if worker.child.alive:
                    self._busy.append(worker)
                    return worker
                worker.stop()
        return None

    def _start(self) -> _Worker:
        self._scratch.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=self._scratch))
        child = Child(
            _MODULE,
            {
                "converter": self._converter,
                "options": self._adapter_options,
                "memory_bytes": self._limits.memory_bytes,
            },
            name=f"{self._converter} converter",
            environment={SCRATCH: str(scratch), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            nice=_NICE,
        )
        worker = _Worker(child, scratch, 0)
        with self._lock:
            # From here on: a heavy converter takes long to load, and a stop must not wait for it.
            self._busy.append(worker)
        try:
            worker.baseline_bytes = self._greet(child)
        except BaseException:
            with self._lock:
                self._busy.remove(worker)
            worker.stop()
            raise
        return worker

    def _greet(self, child: Child) -> int:
        """Wait until the process has loaded its converter; its resident bytes."""
        try:
            hello, _ = child.call({"do": "hello"}, timeout_seconds=_START_SECONDS)
        except (ChildDied, ChildTimeout) as error:
            with self._lock:
                self._refuse_when_closed()
            raise AdapterUnavailable(
                f"the {self._converter} converter does not start ({error}); the log has its last words"
            ) from error
        _LOG.debug("converter.started", extra={"converter": self._converter, "pid": child.pid, **hello})
        return int(hello["resident_bytes"])

    def _keep_or_recycle(self, worker: _Worker, resident_bytes: int) -> None:
        grown = resident_bytes > max(_GROWTH * worker.baseline_bytes, _GROWTH_FROM_BYTES)
        if grown or worker.served >= self._limits.workers_recycled_after:
            worker.child.kill()
            _LOG.debug(
                "converter.recycled",
                extra={"converter": self._converter, "served": worker.served, "resident_bytes": resident_bytes},
            )

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise TransientError("the converters are being stopped")

    def _death(self, error: ChildDied, name: str, peak: "_Peak") -> Exception:
        """What the process's death says about the file."""
        with self._lock:
            if self._closed:
                return TransientError("the converters are being stopped")
        status = error.exit_status or 0
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        limit = self._limits.memory_bytes
        out_of_memory = status == -signal.SIGKILL or (
            status in (-signal.SIGABRT, -signal.SIGSEGV) and peak.address_space_bytes > limit // 2
        )
        if out_of_memory:
            return ConversionMemory(
                f"{name}: the {self._converter} converter died by {how} with {peak.address_space_bytes} bytes of "
                f"address space in use, {limit} allowed"
            )
        return ConversionCrashed(f"{name}: the {self._converter} converter died ({how}) while it had the file")


@dataclass(slots=True)
class _Peak:
    address_space_bytes: int = 0


@contextlib.contextmanager
def _peak(pid: int) -> Generator[_Peak, None, None]:
    """Watch the address space of a process: it cannot be asked once it is dead."""
    peak, stop = _Peak(), threading.Event()

    def look() -> None:
        while not stop.wait(_LOOK_SECONDS):
            peak.address_space_bytes = max(peak.address_space_bytes, address_space_bytes(pid))

    watcher = threading.Thread(target=look, name=f"converter-memory-{pid}", daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        stop.set()
        watcher.join()
