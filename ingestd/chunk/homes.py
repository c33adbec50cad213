"""Where the public names of the package live."""

from collections.abc import Mapping
from types import MappingProxyType

_HOMES = {
    "ingestd.chunk.chunked": "Chunked",
    "ingestd.chunk.chunking": """
        CHUNKERS COMPAT_VERSION GRAIN_GROWTH_VERSION SEEDS STRUCTURE_FIRST_VERSION Chunker Embed chunk chunk_stage
    """,
    "ingestd.chunk.compat.grain_growth": """
        BLOCK_TYPES DEFAULT_MAX_CHARS DEFAULT_TARGET_CHARS FENCED_INLINE FENCED_STANDALONE FENCED_TYPES FENCE_CHAR
        FORMULA_LEAD_SENTENCES MIN_FORMULA_CHARS SKIP_TYPES STANDALONE_TYPES bind_formula_groups chunk_file
        ends_cleanly fence fences_balanced from_docling from_unstructured has_fence load_blocks split_long_text
        starts_cleanly starts_inside_fence strip_fences
    """,
    "ingestd.chunk.compat.structure_first": """
        BatchSentenceSegmenter ChunkExceedsContextError ChunkletEmbedder Embedder FancyChunkError
        OptimizationFailedError OversizedChunkletError OversizedSentenceError SaTSegmenter SegmentEmbedder
        SegmenterError SentenceExceedsContextError SentenceSegmenter UnsplittableDocumentError ValidationError
        ZeroNormEmbeddingError constants embedders plan_units precomputed_segmenter punctuation_segmenter
        render_heading_path segmenters split_chunks_structure_first
    """,
    "ingestd.chunk.library": "grain_growth structure_first structure_first_async",
    "ingestd.chunk.many": "chunk_documents chunk_documents_async",
    "ingestd.chunk.markdown_text": "document_of_markdown",
    "ingestd.chunk.options": "SEED_DEFAULTS ChunkOptions Sizes sizes_of unit_of",
    "ingestd.chunk.stages": """
        embed_with_late_chunking embed_with_late_chunking_async enrich_with_headings heading_paths split_chunklets
        split_chunks split_chunks_async split_sentences validate_blocks
    """,
    "ingestd.chunk.typed_blocks": "TypedBlocks typed_blocks",
    "ingestd.chunk.unblocked": "chunk_async",
    "ingestd.model.chunk": "Chunk Skipped",
    "ingestd.model.document": "Block BlockType Document",
}
HOME: Mapping[str, str] = MappingProxyType({name: home for home, names in _HOMES.items() for name in names.split()})
"""Module of each name."""
