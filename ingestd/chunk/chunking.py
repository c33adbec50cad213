"""Chunks of a document by the chunker that the options name."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

from ingestd.chunk import grain_drafts, section_drafts
from ingestd.chunk.drafts import Draft
from ingestd.chunk.emission import chunks
from ingestd.chunk.manuscript import Manuscript, manuscript
from ingestd.chunk.options import ChunkOptions, sizes_of
from ingestd.chunk.outline import outline
from ingestd.chunk.scale import scaled
from ingestd.model.chunk import Chunk, Skipped
from ingestd.model.document import BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

STRUCTURE_FIRST_VERSION = section_drafts.VERSION
GRAIN_GROWTH_VERSION = grain_drafts.VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """All that became of a document's blocks: each is in a chunk, or skipped."""

    chunks: tuple[Chunk, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunker:
    """One way to chunk."""

    version: int
    drafts: Callable[[Manuscript], list[Draft]]
    tiled: bool
    """Whether its chunks together are the whole Markdown."""
    skips: Mapping[BlockType, str]
    """Reason by type of block."""


_FURNITURE = "furniture: running header, footer, or markup without text"
CHUNKERS: Mapping[str, Chunker] = MappingProxyType(
    {
        "structure-first": Chunker(
            version=STRUCTURE_FIRST_VERSION,
            drafts=section_drafts.structure_first,
            tiled=True,
            skips=MappingProxyType({BlockType.FURNITURE: _FURNITURE}),
        ),
        "grain-growth": Chunker(
            version=GRAIN_GROWTH_VERSION,
            drafts=grain_drafts.grain_growth,
            tiled=False,
            skips=MappingProxyType({BlockType.FURNITURE: _FURNITURE, BlockType.AUTHORS: "authors: names, not prose"}),
        ),
    }
)


def chunk(
    document: Document, options: ChunkOptions, count: TokenCounter, segmenter: Segmenter, *, max_tokens: int
) -> Chunked:
    """Chunk the document.

    Parameters
    ----------
    max_tokens
        The embedder's limit, special tokens included.

    Returns
    -------
    Chunked
        Chunks in document order. No ``text`` is over ``min(max_size, max_tokens)`` tokens (with ``unit="chars"``: over
        ``max_size`` characters or ``max_tokens`` tokens), whatever the document. A ``text`` is the heading path, a blank
        line and the ``body``; headings that the path says are left out of the body, unless nothing else is in it.
        Structure-first chunks tile the Markdown: ``char_start`` of each is ``char_end`` of the one before it.
        Grain-growth chunks of one split paragraph overlap by a sentence.

    Raises
    ------
    ValueError
        When an option or ``max_tokens`` is out of its range, the document's blocks overlap, or the segmenter loses text.
    """
    sizes = sizes_of(options)
    chunker = CHUNKERS[options.name]
    scale, counter = scaled(sizes, options.unit, count, max_tokens)
    outlined = outline(document, chunker.skips)
    if not outlined.blocks:
        return Chunked(chunks=(), skipped=outlined.skipped)
    laid_out = manuscript(document.markdown, outlined, scale, counter, segmenter)
    drafts = chunker.drafts(laid_out)
    made = chunks(laid_out, document.title, drafts, tiled=chunker.tiled)
    return Chunked(chunks=made, skipped=outlined.skipped)


def chunk_stage(options: ChunkOptions, segmenter_name: str, tokenizer: str, max_tokens: int) -> Stage:
    """Identity of the chunking stage: all that can move a boundary or change a text.

    Parameters
    ----------
    segmenter_name
        The segmenter's ``name``.
    tokenizer
        Hash of the tokenizer that counts.

    Raises
    ------
    ValueError
        When an option is out of its range.
    """
    sizes = sizes_of(options)
    return Stage(
        name=options.name,
        version=CHUNKERS[options.name].version,
        options=MappingProxyType(
            {
                "profile": options.profile,
                **asdict(sizes),
                "unit": options.unit,
                "max_tokens": max_tokens,
                "segmenter": segmenter_name,
                "tokenizer": tokenizer,
            }
        ),
    )
