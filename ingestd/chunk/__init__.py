"""Documents into chunks: pure functions of a document, a token counter and a segmenter."""

from ingestd.chunk.chunking import (
    CHUNKERS,
    GRAIN_GROWTH_VERSION,
    STRUCTURE_FIRST_VERSION,
    Chunked,
    Chunker,
    chunk,
    chunk_stage,
)
from ingestd.chunk.options import ChunkOptions, Sizes, sizes_of

__all__ = [
    "CHUNKERS",
    "GRAIN_GROWTH_VERSION",
    "STRUCTURE_FIRST_VERSION",
    "ChunkOptions",
    "Chunked",
    "Chunker",
    "Sizes",
    "chunk",
    "chunk_stage",
    "sizes_of",
]
