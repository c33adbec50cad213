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
class Loads(Protocol):
    """A converter whose engine takes a while to load."""

    def load(self) -> None:
        """Import the engine."""
        ...


def answer_with(arguments: dict[str, Any]) -> Answerer:
    """Make the converter, then give the function that answers ``hello``, ``inspect`` and ``convert``."""
    converter: Converter = registry.factory("converters", arguments["converter"])(arguments["options"])
    confined = confine(arguments["memory_bytes"])
    if isinstance(converter, Loads):
        converter.load()
    baseline = {"confined": confined, "resident_bytes": resident_bytes()}

    def answer(request: dict[str, Any], _blob: bytes) -> Reply:
        if request["do"] == "hello":
            return baseline, b""
        file = ConversionRequest(
            path=Path(os.fsdecode(bytes.fromhex(request["path"]))), name=request["name"], mime=request["mime"]
        )
        try:
            if request["do"] == "inspect":
                return {"pages": _within_memory(file, lambda: _pages(converter, file))}, b""
            return _within_memory(file, lambda: _convert(converter, file))
        finally:
            _empty_scratch()

    return answer


def _pages(converter: Converter, file: ConversionRequest) -> int:
    return converter.count_pages(file) if isinstance(converter, CountsPages) else 0


def _convert(converter: Converter, file: ConversionRequest) -> Reply:
    document = finished(converter.convert(file), file.name)
    value = json.dumps(document_as_json(document), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"resident_bytes": resident_bytes()}, value.encode("utf-8")


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
