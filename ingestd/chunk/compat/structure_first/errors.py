"""What the stages refuse.

::

    FancyChunkError                       also an IngestdError
    ├── ValidationError                   also a ValueError; the message names the parameter
    │   ├── UnsplittableDocumentError     no sentences satisfy the lengths
    │   ├── OversizedSentenceError
    │   ├── OversizedChunkletError
    │   ├── ZeroNormEmbeddingError
    │   └── ChunkExceedsContextError      SentenceExceedsContextError is the same
    ├── OptimizationFailedError           never raised
    └── SegmenterError
"""

from ingestd.errors import IngestdError


class FancyChunkError(IngestdError):
    """Root of what the stages raise on purpose."""


class ValidationError(FancyChunkError, ValueError):
    """An argument, or what a segmenter or embedder returned, cannot be used."""


class UnsplittableDocumentError(ValidationError):
    """No partition into sentences satisfies the least and the most length."""


class OversizedSentenceError(ValidationError):
    """A sentence is longer than a chunklet may be."""


class OversizedChunkletError(ValidationError):
    """A chunklet is longer than a chunk may be."""


class ZeroNormEmbeddingError(ValidationError):
    """An embedding has no direction."""


class ChunkExceedsContextError(ValidationError):
    """A chunk has more tokens than the embedder reads."""


SentenceExceedsContextError = ChunkExceedsContextError


class OptimizationFailedError(FancyChunkError):
    """Kept for its name: the seed never raises it."""


class SegmenterError(FancyChunkError):
    """A segmenter failed."""
