"""One file through each converter that takes it, each in a confined process of its own, measured."""

import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingestd import registry
from ingestd.children import Child
from ingestd.convert.admission import admit
from ingestd.convert.conversions import adapter_options
from ingestd.convert.options import ConvertOptions
from ingestd.convert.pool import Pool
from ingestd.convert.types import PDF
from ingestd.errors import AdapterUnavailable, IngestdError, PermanentError
from ingestd.model.document import Document, document_from_json
from ingestd.ports.converter import Converter

_YARDSTICK = "ingestd_adapters.pdf_yardstick"
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A file to convert."""

    path: Path
    name: str
    mime: str
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one converter fared."""

    converter: str
    outcome: Document | IngestdError
    start_seconds: float | None
    """Wall-clock time until its process was ready; ``None`` where it was never started."""
    seconds: float | None
    """Wall-clock time of the conversion."""
    cpu_seconds: float | None
    """Of the conversion, by the process and its own children; ``None`` where it cannot be told."""
    peak_bytes: int | None
    """Most resident memory of the process; ``None`` where it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Registered converters for one type."""

    names: tuple[str, ...]
    unavailable: tuple[tuple[str, str], ...]
    """Converters that cannot be loaded here, each with its reason: what they would take is unknown."""


def candidates(mime: str, options: ConvertOptions) -> Candidates:
    """Converters that take the type, sorted by name."""
    names: list[str] = []
    unavailable: list[tuple[str, str]] = []
    for name in registry.names("converters"):
        try:
            converter: Converter = registry.factory("converters", name)(adapter_options(name, options))
        except AdapterUnavailable as error:
            unavailable.append((name, str(error)))
            continue
        if mime in converter.mimes:
            names.append(name)
    return Candidates(names=tuple(names), unavailable=tuple(unavailable))


def trial(subject: Subject, converter: str, options: ConvertOptions) -> Trial:
    """Convert the file with one converter; an error of our tree is an outcome, any other is a bug."""
    try:
        admit(file=subject.path, mime=subject.mime, size=subject.size, name=subject.name, options=options)
    except PermanentError as error:
        return Trial(
            converter=converter, outcome=error, start_seconds=None, seconds=None, cpu_seconds=None, peak_bytes=None
        )
    with tempfile.TemporaryDirectory(prefix="ingestd-compare-") as scratch:
        pool = Pool(converter, adapter_options(converter, options), options, Path(scratch))
        try:
            return _measured(subject, converter, pool)
        finally:
            pool.close()


def pdfium_characters(subject: Subject, options: ConvertOptions) -> tuple[int, ...] | IngestdError | None:
    """Characters on each page as PDFium sees them, white space left out; ``None`` for a file that is no PDF."""
    if subject.mime != PDF:
        return None
    limits = {"max_pages": options.max_pages, "memory_bytes": options.memory_bytes}
    child = Child(_YARDSTICK, limits, name="PDFium", environment={"OMP_NUM_THREADS": "1"})
    try:
        request = {"path": os.fsencode(subject.path).hex(), "name": subject.name}
        return tuple(child.call(request, timeout_seconds=options.longest_seconds)[0]["characters"])
    except IngestdError as error:
        return error
    finally:
        if child.alive:
            child.kill()
        child.close(grace_seconds=0)


@dataclass(slots=True)
class _Usage:
    cpu_seconds: dict[int, float] = field(default_factory=dict[int, float])
    peak_bytes: int = 0

    @property
    def seconds(self) -> float | None:
        return sum(self.cpu_seconds.values()) if self.cpu_seconds else None


def _measured(subject: Subject, converter: str, pool: Pool) -> Trial:
    began = time.monotonic()
    try:
        pool.warm()
    except IngestdError as error:
        waited = time.monotonic() - began
        return Trial(
            converter=converter, outcome=error, start_seconds=waited, seconds=None, cpu_seconds=None, peak_bytes=None
        )
    ready, before = time.monotonic(), _cpu_seconds(pool.pids())
    with _watched(pool) as usage:
        outcome: Document | IngestdError
        try:
            given = pool.convert(path=subject.path, name=subject.name, mime=subject.mime)
            outcome = document_from_json(json.loads(given))
        except IngestdError as error:
            outcome = error
        seconds = time.monotonic() - ready
    return Trial(
        converter=converter,
        outcome=outcome,
        start_seconds=ready - began,
        seconds=seconds,
        cpu_seconds=None if usage.seconds is None else usage.seconds - before,
        peak_bytes=usage.peak_bytes or None,
    )


@contextlib.contextmanager
def _watched(pool: Pool) -> Generator[_Usage]:
    """Look at the pool's processes until the end: one that is killed cannot be asked any more."""
    usage, stop = _Usage(), threading.Event()

    def look() -> None:
        for pid in pool.pids():
            usage.peak_bytes = max(usage.peak_bytes, _peak_bytes(pid))
            if spent := _cpu_seconds((pid,)):
                usage.cpu_seconds[pid] = max(spent, usage.cpu_seconds.get(pid, 0.0))

    def watch() -> None:
        while not stop.wait(_LOOK_SECONDS):
            look()

    watcher = threading.Thread(target=watch, name="trial-watch", daemon=True)
    watcher.start()
    try:
        yield usage
    finally:
        stop.set()
        watcher.join()
        look()


def _peak_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _cpu_seconds(pids: Sequence[int]) -> float:
    """User and system, of the processes and of those of their children that have ended."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(value) for value in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
