"""The functions that read a whole document, for callers that live in an event loop.

Each runs in a thread and gives what the function without ``_async`` gives. When the task is cancelled, chunking ends at its
next chunk; the others end when they are done, unheard.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ingestd.chunk.compat.grain_growth.blocks import Block, validate_blocks
from ingestd.chunk.compat.grain_growth.docling_blocks import from_docling
from ingestd.chunk.compat.grain_growth.document import Chunk, as_chunk
from ingestd.chunk.compat.grain_growth.files import load_blocks
from ingestd.chunk.compat.grain_growth.grains import (
    DEFAULT_MAX_CHARS,
    DEFAULT_TARGET_CHARS,
    FORMULA_LEAD_SENTENCES,
    grow_into,
)
from ingestd.chunk.compat.grain_growth.growth import Grain
from ingestd.chunk.compat.grain_growth.unstructured_blocks import from_unstructured
from ingestd.chunk.threads import Look, in_a_thread

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


async def chunk_document_async(
    blocks: Sequence[Block],
    filename: str,
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
    lead_sentences: int = FORMULA_LEAD_SENTENCES,
) -> tuple[list[Chunk], list[Block]]:
    """As :func:`~ingestd.chunk.compat.grain_growth.document.chunk_document`; the blocks are read in a thread."""

    def work(look: Look) -> tuple[list[Chunk], list[Block]]:
        chunks: list[Chunk] = []

        def take(grain: Grain) -> None:
            look()
            chunks.append(as_chunk(grain, filename, len(chunks)))

        return chunks, grow_into(take, blocks, filename, target_chars, max_chars, lead_sentences)

    return await in_a_thread(work)


async def grow_async(
    blocks: Sequence[Block],
    filename: str,
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
    lead_sentences: int = FORMULA_LEAD_SENTENCES,
) -> tuple[list[Grain], list[Block]]:
    """As :func:`~ingestd.chunk.compat.grain_growth.grains.grow`; the blocks are read in a thread."""

    def work(look: Look) -> tuple[list[Grain], list[Block]]:
        grains: list[Grain] = []

        def take(grain: Grain) -> None:
            look()
            grains.append(grain)

        return grains, grow_into(take, blocks, filename, target_chars, max_chars, lead_sentences)

    return await in_a_thread(work)


async def chunk_file_async(
    json_path: str | PathLike[str],
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
) -> tuple[list[Chunk], list[Block]]:
    """As :func:`~ingestd.chunk.compat.grain_growth.files.chunk_file`; the file is read in a thread."""
    blocks, _ = await load_blocks_async(json_path)
    return await chunk_document_async(blocks, Path(json_path).stem, target_chars, max_chars)


def _beside(
    function: Callable[_Parameters, _Result],
) -> Callable[_Parameters, Coroutine[Any, Any, _Result]]:
    @wraps(function)
    async def beside(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return await in_a_thread(lambda _: function(*args, **kwargs))

    beside.__name__ = beside.__qualname__ = f"{function.__name__}_async"
    return beside


load_blocks_async = _beside(load_blocks)
validate_blocks_async = _beside(validate_blocks)
from_docling_async = _beside(from_docling)
from_unstructured_async = _beside(from_unstructured)
