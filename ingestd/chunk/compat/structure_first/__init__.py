"""The ``structure-first`` chunker exactly as fancychunk 0.8.0 published it, every stage on its own.

``split_sentences`` → ``split_chunklets`` → ``split_chunks``, or ``split_chunks_structure_first``, which makes chunks of whole
sections and hands only those that are too large to the three stages; then ``heading_paths``, ``enrich_with_headings`` and
``embed_with_late_chunking``. ``chunk_document`` does it all. What is asynchronous has a form with ``_sync`` behind its name,
for callers without an event loop. Names, parameters, defaults, texts and offsets are the seed's, its faults included; the
``native`` profile mends those.

What differs on purpose, each with a test:

- A lone carriage return makes the seed's sentences fail with ``IndexError`` in some documents; here lines are then counted as
  the Markdown parser counts them. Where the seed gives a result, this is that result.
- Nested headings written with `` ::: `` have no limit of depth; the seed fails with ``RecursionError`` near a thousand.
- One huge first paragraph, table, fence or HTML block takes the seed time that grows with its square; here all stages grow
  linearly.
- Embeddings that are not finite are a ``ValidationError``; the seed fails an assertion, or gives nonsense. So is a segmenter's
  NaN.
- ``segmenter=None`` downloads a model in the seed; here it is a ``ValidationError``, raised only where a segmenter is needed.
- ``chunk_documents`` names the document that failed, takes any iterable, and leaves nothing in work behind an error.
- Errors are also ``ValueError`` and :class:`ingestd.errors.IngestdError`; messages name the parameter and the way out.
"""

from ingestd.chunk.compat.structure_first import constants, embedders, errors, segmenters
from ingestd.chunk.compat.structure_first.blocking import (
    chunk_document_sync,
    chunk_documents_sync,
    embed_with_late_chunking_sync,
    split_chunks_structure_first_sync,
    split_chunks_sync,
)
from ingestd.chunk.compat.structure_first.chunk import Chunk
from ingestd.chunk.compat.structure_first.chunklets import split_chunklets
from ingestd.chunk.compat.structure_first.chunks import split_chunks
from ingestd.chunk.compat.structure_first.document import chunk_document, chunk_documents
from ingestd.chunk.compat.structure_first.errors import (
    ChunkExceedsContextError,
    FancyChunkError,
    OptimizationFailedError,
    OversizedChunkletError,
    OversizedSentenceError,
    SegmenterError,
    SentenceExceedsContextError,
    UnsplittableDocumentError,
    ValidationError,
    ZeroNormEmbeddingError,
)
from ingestd.chunk.compat.structure_first.headings import enrich_with_headings, heading_paths, render_heading_path
from ingestd.chunk.compat.structure_first.late_chunking import embed_with_late_chunking
from ingestd.chunk.compat.structure_first.protocols import (
    BatchSentenceSegmenter,
    ChunkletEmbedder,
    Embedder,
    SegmentEmbedder,
    SentenceSegmenter,
)
from ingestd.chunk.compat.structure_first.sat import SaTSegmenter
from ingestd.chunk.compat.structure_first.segmenters import precomputed_segmenter, punctuation_segmenter
from ingestd.chunk.compat.structure_first.sentences import split_sentences
from ingestd.chunk.compat.structure_first.structure import split_chunks_structure_first
from ingestd.chunk.compat.structure_first.units import Unit, plan_units

__all__ = [
    "BatchSentenceSegmenter",
    "Chunk",
    "ChunkExceedsContextError",
    "ChunkletEmbedder",
    "Embedder",
    "FancyChunkError",
    "OptimizationFailedError",
    "OversizedChunkletError",
    "OversizedSentenceError",
    "SaTSegmenter",
    "SegmentEmbedder",
    "SegmenterError",
    "SentenceExceedsContextError",
    "SentenceSegmenter",
    "Unit",
    "UnsplittableDocumentError",
    "ValidationError",
    "ZeroNormEmbeddingError",
    "chunk_document",
    "chunk_document_sync",
    "chunk_documents",
    "chunk_documents_sync",
    "constants",
    "embed_with_late_chunking",
    "embed_with_late_chunking_sync",
    "embedders",
    "enrich_with_headings",
    "errors",
    "heading_paths",
    "plan_units",
    "precomputed_segmenter",
    "punctuation_segmenter",
    "render_heading_path",
    "segmenters",
    "split_chunklets",
    "split_chunks",
    "split_chunks_structure_first",
    "split_chunks_structure_first_sync",
    "split_chunks_sync",
    "split_sentences",
]
