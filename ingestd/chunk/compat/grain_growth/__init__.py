"""Grain-growth 1.0.0: for the same blocks the same chunks as the package grain-growth-chunking, character for character.

All that the package does otherwise than one would wish is the same too. What it cannot do is different:

=========================================================  ================================  ===============================
input                                                      the package                       here
=========================================================  ================================  ===============================
a block without text, or with None (its own validator      ``KeyError``, ``TypeError``,      read as an empty text
accepts both)                                              ``AttributeError``
a block without a page (its own validator accepts it)      ``KeyError``                      read as page 0
pages that are None beside others in one chunk             ``TypeError``                     the pages that are known
pages that cannot be ordered (a string beside a number)    ``TypeError``                     ``ValueError`` naming the block
a type that is missing or not hashable                     ``KeyError``, ``TypeError``       ``ValueError`` naming the block;
                                                                                             a problem for `validate_blocks`
a block that is no dict, a text that is no string          ``TypeError``, or a chunk whose   ``ValueError`` naming the block
                                                           body is no string
``blocks`` None or a string                                ``TypeError``                     ``ValueError``
a size that is no number                                   ``TypeError``, or whatever came   ``ValueError`` naming the
                                                           first                             parameter
a block of type ``bound`` without members                  ``KeyError``                      ``ValueError`` naming the block
an iterator for `bind_formula_groups`                      ``TypeError``                     taken
a caption or heading repeated until the chunks are many    fills the memory                  ``ValueError`` naming ``max_chars``
times the document (over 50 million characters, over 20
times the document)
many sentences asked to stay with a formula                quadratic                         linear
a JSON file without a list of blocks                       ``KeyError``, ``TypeError``       ``ValueError`` naming the file
``tables`` None in a document of Docling, an empty tuple   ``TypeError``, ``IndexError``     none; dropped
among its items
an element of Unstructured whose text is no string         ``AttributeError``                ``ValueError`` naming the element
=========================================================  ================================  ===============================

`load_blocks` and `chunk_file` read the file that they are given; nothing else here does input or output. The functions that
read a whole document have a form with ``_async`` behind their name, which does the same in a thread.
"""

from ingestd.chunk.compat.grain_growth.blocks import (
    BLOCK_TYPES,
    Block,
    validate_blocks,
)
from ingestd.chunk.compat.grain_growth.docling_blocks import from_docling
from ingestd.chunk.compat.grain_growth.document import Chunk, ChunkMetadata, as_chunk, chunk_document
from ingestd.chunk.compat.grain_growth.edges import ends_cleanly, starts_cleanly
from ingestd.chunk.compat.grain_growth.fences import (
    FENCE_CHAR,
    FENCED_INLINE,
    FENCED_STANDALONE,
    FENCED_TYPES,
    fence,
    fences_balanced,
    has_fence,
    starts_inside_fence,
    strip_fences,
)
from ingestd.chunk.compat.grain_growth.files import chunk_file, load_blocks
from ingestd.chunk.compat.grain_growth.formulas import bind_formula_groups
from ingestd.chunk.compat.grain_growth.grains import (
    DEFAULT_MAX_CHARS,
    DEFAULT_TARGET_CHARS,
    FORMULA_LEAD_SENTENCES,
    grow,
)
from ingestd.chunk.compat.grain_growth.growth import Grain
from ingestd.chunk.compat.grain_growth.prose import split_long_text, split_sentences
from ingestd.chunk.compat.grain_growth.reading import MIN_FORMULA_CHARS, SKIP_TYPES
from ingestd.chunk.compat.grain_growth.runs import STANDALONE_TYPES
from ingestd.chunk.compat.grain_growth.unblocked import (
    chunk_document_async,
    chunk_file_async,
    from_docling_async,
    from_unstructured_async,
    grow_async,
    load_blocks_async,
    validate_blocks_async,
)
from ingestd.chunk.compat.grain_growth.unstructured_blocks import from_unstructured

VERSION = "1.0.0"
"""Of the package whose chunks these are."""
__version__ = VERSION

__all__ = [
    "BLOCK_TYPES",
    "DEFAULT_MAX_CHARS",
    "DEFAULT_TARGET_CHARS",
    "FENCED_INLINE",
    "FENCED_STANDALONE",
    "FENCED_TYPES",
    "FENCE_CHAR",
    "FORMULA_LEAD_SENTENCES",
    "MIN_FORMULA_CHARS",
    "SKIP_TYPES",
    "STANDALONE_TYPES",
    "VERSION",
    "Block",
    "Chunk",
    "ChunkMetadata",
    "Grain",
    "as_chunk",
    "bind_formula_groups",
    "chunk_document",
    "chunk_document_async",
    "chunk_file",
    "chunk_file_async",
    "ends_cleanly",
    "fence",
    "fences_balanced",
    "from_docling",
    "from_docling_async",
    "from_unstructured",
    "from_unstructured_async",
    "grow",
    "grow_async",
    "has_fence",
    "load_blocks",
    "load_blocks_async",
    "split_long_text",
    "split_sentences",
    "starts_cleanly",
    "starts_inside_fence",
    "strip_fences",
    "validate_blocks",
    "validate_blocks_async",
]
