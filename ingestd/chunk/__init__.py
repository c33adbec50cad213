"""Documents into chunks: pure functions of a document, a token counter and a segmenter.

Both chunkers and every stage on its own, in the profile ``native`` or, with ``profile="compat"``, exactly as the published
packages have them; :mod:`ingestd.chunk.compat` holds those under their own names. Nothing is imported before it is asked
for, so that whoever needs the options alone never waits for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingestd.chunk.chunked import Chunked
    from ingestd.chunk.chunking import (
        CHUNKERS,
        COMPAT_VERSION,
        GRAIN_GROWTH_VERSION,
        SEEDS,
        STRUCTURE_FIRST_VERSION,
        Chunker,
        Embed,
        chunk,
        chunk_stage,
    )
    from ingestd.chunk.options import SEED_DEFAULTS, ChunkOptions, Sizes, sizes_of, unit_of
    from ingestd.model.chunk import Chunk, Skipped
    from ingestd.model.document import Block, BlockType, Document

_HOMES = {
    "ingestd.chunk.chunked": ("Chunked",),
    "ingestd.chunk.chunking": (
        "CHUNKERS",
        "COMPAT_VERSION",
        "GRAIN_GROWTH_VERSION",
        "SEEDS",
        "STRUCTURE_FIRST_VERSION",
        "Chunker",
        "Embed",
        "chunk",
        "chunk_stage",
    ),
    "ingestd.chunk.options": ("SEED_DEFAULTS", "ChunkOptions", "Sizes", "sizes_of", "unit_of"),
    "ingestd.model.chunk": ("Chunk", "Skipped"),
    "ingestd.model.document": ("Block", "BlockType", "Document"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CHUNKERS",
    "COMPAT_VERSION",
    "GRAIN_GROWTH_VERSION",
    "SEEDS",
    "SEED_DEFAULTS",
    "STRUCTURE_FIRST_VERSION",
    "Block",
    "BlockType",
    "Chunk",
    "ChunkOptions",
    "Chunked",
    "Chunker",
    "Document",
    "Embed",
    "Sizes",
    "Skipped",
    "chunk",
    "chunk_stage",
    "sizes_of",
    "unit_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
