"""Documents into chunks: pure functions of a document, a token counter and a segmenter.

Both chunkers and every stage on its own, in the profile ``native`` or, with ``profile="compat"``, exactly as the published
packages have them: :mod:`ingestd.chunk.compat.grain_growth` and :mod:`ingestd.chunk.compat.structure_first` hold those under
their own names, and what both packages have is found there alone (``Chunk``, ``chunk_document``). Nothing is imported before
it is asked for, so that whoever needs the options alone never waits for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ingestd.chunk.homes import HOME

if TYPE_CHECKING:
    from ingestd.chunk.chunked import (
        Chunked,
    )
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
    from ingestd.chunk.compat.grain_growth import (
        BLOCK_TYPES,
        DEFAULT_MAX_CHARS,
        DEFAULT_TARGET_CHARS,
        FENCE_CHAR,
        FENCED_INLINE,
        FENCED_STANDALONE,
        FENCED_TYPES,
        FORMULA_LEAD_SENTENCES,
        MIN_FORMULA_CHARS,
        SKIP_TYPES,
        STANDALONE_TYPES,
        bind_formula_groups,
        chunk_file,
        ends_cleanly,
        fence,
        fences_balanced,
        from_docling,
        from_unstructured,
        has_fence,
        load_blocks,
        split_long_text,
        starts_cleanly,
        starts_inside_fence,
        strip_fences,
    )
    from ingestd.chunk.compat.structure_first import (
        BatchSentenceSegmenter,
        ChunkExceedsContextError,
        ChunkletEmbedder,
        Embedder,
        FancyChunkError,
        OptimizationFailedError,
        OversizedChunkletError,
        OversizedSentenceError,
        SaTSegmenter,
        SegmentEmbedder,
        SegmenterError,
        SentenceExceedsContextError,
        SentenceSegmenter,
        UnsplittableDocumentError,
        ValidationError,
        ZeroNormEmbeddingError,
        constants,
        embedders,
        plan_units,
        precomputed_segmenter,
        punctuation_segmenter,
        render_heading_path,
        segmenters,
        split_chunks_structure_first,
    )
    from ingestd.chunk.library import (
        grain_growth,
        structure_first,
        structure_first_async,
    )
    from ingestd.chunk.many import (
        chunk_documents,
        chunk_documents_async,
    )
    from ingestd.chunk.markdown_text import (
        document_of_markdown,
    )
    from ingestd.chunk.options import (
        SEED_DEFAULTS,
        ChunkOptions,
        Sizes,
        sizes_of,
        unit_of,
    )
    from ingestd.chunk.stages import (
        embed_with_late_chunking,
        embed_with_late_chunking_async,
        enrich_with_headings,
        heading_paths,
        split_chunklets,
        split_chunks,
        split_chunks_async,
        split_sentences,
        validate_blocks,
    )
    from ingestd.chunk.typed_blocks import (
        TypedBlocks,
        typed_blocks,
    )
    from ingestd.chunk.unblocked import (
        chunk_async,
    )
    from ingestd.model.chunk import (
        Chunk,
        Skipped,
    )
    from ingestd.model.document import (
        Block,
        BlockType,
        Document,
    )

__all__ = [
    "BLOCK_TYPES",
    "CHUNKERS",
    "COMPAT_VERSION",
    "DEFAULT_MAX_CHARS",
    "DEFAULT_TARGET_CHARS",
    "FENCED_INLINE",
    "FENCED_STANDALONE",
    "FENCED_TYPES",
    "FENCE_CHAR",
    "FORMULA_LEAD_SENTENCES",
    "GRAIN_GROWTH_VERSION",
    "MIN_FORMULA_CHARS",
    "SEEDS",
    "SEED_DEFAULTS",
    "SKIP_TYPES",
    "STANDALONE_TYPES",
    "STRUCTURE_FIRST_VERSION",
    "BatchSentenceSegmenter",
    "Block",
    "BlockType",
    "Chunk",
    "ChunkExceedsContextError",
    "ChunkOptions",
    "Chunked",
    "Chunker",
    "ChunkletEmbedder",
    "Document",
    "Embed",
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
    "Sizes",
    "Skipped",
    "TypedBlocks",
    "UnsplittableDocumentError",
    "ValidationError",
    "ZeroNormEmbeddingError",
    "bind_formula_groups",
    "chunk",
    "chunk_async",
    "chunk_documents",
    "chunk_documents_async",
    "chunk_file",
    "chunk_stage",
    "constants",
    "document_of_markdown",
    "embed_with_late_chunking",
    "embed_with_late_chunking_async",
    "embedders",
    "ends_cleanly",
    "enrich_with_headings",
    "fence",
    "fences_balanced",
    "from_docling",
    "from_unstructured",
    "grain_growth",
    "has_fence",
    "heading_paths",
    "load_blocks",
    "plan_units",
    "precomputed_segmenter",
    "punctuation_segmenter",
    "render_heading_path",
    "segmenters",
    "sizes_of",
    "split_chunklets",
    "split_chunks",
    "split_chunks_async",
    "split_chunks_structure_first",
    "split_long_text",
    "split_sentences",
    "starts_cleanly",
    "starts_inside_fence",
    "strip_fences",
    "structure_first",
    "structure_first_async",
    "typed_blocks",
    "unit_of",
    "validate_blocks",
]


def __getattr__(name: str) -> Any:
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
