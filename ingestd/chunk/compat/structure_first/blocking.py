"""The asynchronous stages for callers without an event loop.

Each function runs the one without ``_sync`` in an event loop of its own, to its end. The embedder is the same: its methods
are coroutines, and what it keeps must not belong to another loop.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ingestd.chunk.compat.structure_first.chunks import split_chunks
from ingestd.chunk.compat.structure_first.document import chunk_document, chunk_documents
from ingestd.chunk.compat.structure_first.errors import FancyChunkError
from ingestd.chunk.compat.structure_first.late_chunking import embed_with_late_chunking
from ingestd.chunk.compat.structure_first.structure import split_chunks_structure_first

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def _run(function: Callable[_Parameters, Coroutine[Any, Any, _Result]]) -> Callable[_Parameters, _Result]:
    @wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(function(*args, **kwargs))
        raise FancyChunkError(f"{run.__name__} was called inside an event loop: await {function.__name__} there")

    run.__name__ = run.__qualname__ = f"{function.__name__}_sync"
    return run


split_chunks_sync = _run(split_chunks)
split_chunks_structure_first_sync = _run(split_chunks_structure_first)
embed_with_late_chunking_sync = _run(embed_with_late_chunking)
chunk_document_sync = _run(chunk_document)
chunk_documents_sync = _run(chunk_documents)
