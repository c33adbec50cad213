"""The converter's process: confined, it answers one request at a time."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from ingestd import registry
from ingestd.children import Answerer, Reply, serve
from ingestd.convert.confinement import SCRATCH, confine, resident_bytes
from ingestd.convert.result import finished
from ingestd.errors import ConversionMemory
from ingestd.model.document import document_as_json
from ingestd.ports.converter import ConversionRequest, Converter

_T = TypeVar("_T")


@runtime_checkable
class CountsPages(Protocol):
    """A converter that can look at a file before converting it."""

    def count_pages(self, request: ConversionRequest) -> int:
        """Pages of the file, for its deadline; raises the same errors as ``convert``."""
        ...


@runtime_checkable
class CountsOcrPages(Protocol):
    """A converter that reads some pages from their pictures, which takes longer."""

    def count_ocr_pages(self, request: ConversionRequest) -> int:
        """Such pages of the file, for its deadline; raises the same errors as ``convert``."""
        ...


@runtime_checkable
class LoadsMore(Protocol):
    """A converter that loads a further engine with the first file that needs it."""

    def loaded(self) -> int:
        """How many it has loaded so far."""
        ...


@runtime_checkable
class Loads(Protocol):
    """A converter whose engine takes a while to load."""

    def load(self) -> None:
        """Import the engine."""
        ...


def answer_with(arguments: dict[str, Any]) -> Answerer:
    """Make the converter, then give the function that answers ``hello``, ``inspect``, ``survey`` and ``convert``."""
    converter: Converter = registry.factory("converters", arguments["converter"])(arguments["options"])
    confined = confine(arguments["memory_bytes"])
    if isinstance(converter, Loads):
        converter.load()
    baseline = {"confined": confined, "resident_bytes": resident_bytes()}
    stand = _Stand(converter)

    def answer(request: dict[str, Any], _blob: bytes) -> Reply:
        if request["do"] == "hello":
            return baseline, b""
        file = ConversionRequest(
            path=Path(os.fsdecode(bytes.fromhex(request["path"]))), name=request["name"], mime=request["mime"]
        )
        try:
            if request["do"] == "inspect":
                return {"pages": _within_memory(file, lambda: _pages(converter, file))}, b""
            if request["do"] == "survey":
                return {"ocr_pages": _within_memory(file, lambda: _ocr_pages(converter, file))}, b""
            return _within_memory(file, lambda: _convert(converter, file, stand))
        finally:
            _empty_scratch()

    return answer


def _pages(converter: Converter, file: ConversionRequest) -> int:
    return converter.count_pages(file) if isinstance(converter, CountsPages) else 0


def _ocr_pages(converter: Converter, file: ConversionRequest) -> int:
    return converter.count_ocr_pages(file) if isinstance(converter, CountsOcrPages) else 0


class _Stand:
    """Resident bytes that are no leak: what the process had after its last engine was loaded."""

    def __init__(self, converter: Converter) -> None:
        self._converter = converter
        self._loaded = self._count()
        self._bytes = 0

    def baseline_bytes(self, resident: int) -> int:
        """What to measure growth by, after a document that left so many bytes resident."""
        if self._count() != self._loaded:
            self._loaded, self._bytes = self._count(), resident
        return self._bytes

    def _count(self) -> int:
        return self._converter.loaded() if isinstance(self._converter, LoadsMore) else 0


def _convert(converter: Converter, file: ConversionRequest, stand: _Stand) -> Reply:
    document = finished(converter.convert(file), file.name)
    value = json.dumps(document_as_json(document), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    resident = resident_bytes()
    return {"resident_bytes": resident, "baseline_bytes": stand.baseline_bytes(resident)}, value.encode("utf-8")


def _within_memory(file: ConversionRequest, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except (MemoryError, RecursionError) as error:
        raise ConversionMemory(f"{file.name}: the converter ran out of memory ({type(error).__name__})") from None


def _empty_scratch() -> None:
    scratch = os.environ.get(SCRATCH)
    for entry in Path(scratch).iterdir() if scratch else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                entry.unlink()


if __name__ == "__main__":
    serve(answer_with)
