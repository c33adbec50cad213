"""A process that chunks one document after the other: ``python -m ingestd.chunk.worker``.

Requests, each one frame: ``{"do": "prepare"}`` with a :class:`~ingestd.chunk.makers.Chunking` as its blob, then ``{"do":
"chunk"}`` with a document, which is answered with what became of it, or with ``{"raised": true}`` and the exception.
"""

import sys
import traceback
from typing import Any

from ingestd.children import Answerer, Reply, serve
from ingestd.chunk.makers import Chunking, Tools, chunk_with, tools
from ingestd.chunk.parcel import packed, unpacked
from ingestd.errors import ConfigurationError


def answer_with(arguments: dict[str, Any]) -> Answerer:
    """Find modules where the parent does; return what answers ``prepare``, then ``chunk``."""
    sys.path[:] = arguments["path"]
    prepared: list[tuple[Tools, Chunking]] = []

    def answer(request: dict[str, Any], blob: bytes) -> Reply:
        if request["do"] == "prepare":
            chunking = _chunking(blob)
            prepared.append((tools(chunking), chunking))
            return {}, b""
        try:
            return {}, packed(chunk_with(*prepared[0], unpacked(blob)))
        except Exception as error:  # noqa: BLE001  # one attempt at one document: the parent raises it
            return {"raised": True}, _packed_error(error)

    return answer


def _chunking(blob: bytes) -> Chunking:
    try:
        chunking: Chunking = unpacked(blob)
    except (AttributeError, ImportError) as error:
        raise ConfigurationError(
            f"what makes the counter or the segmenter cannot be found by another process ({error}): define it at the top level of a "
            "module that can be imported, which a script or a notebook is not, or pass processes=1"
        ) from error
    return chunking


def _packed_error(error: Exception) -> bytes:
    """The exception with its traceback as a note; one that cannot travel becomes a ``RuntimeError`` of the same words."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        parcel = packed(error)
        unpacked(parcel)
    except Exception:  # noqa: BLE001  # whatever another program's exception does when it is copied
        substitute = RuntimeError(f"{type(error).__name__}: {error}")
        substitute.__notes__ = error.__notes__
        return packed(substitute)
    return parcel


if __name__ == "__main__":
    serve(answer_with)
