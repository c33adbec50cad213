"""Chunks of a document by the chunker that the options name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from ingestd.chunk import grain_drafts, section_drafts
from ingestd.chunk.chunked import Chunked
from ingestd.chunk.drafts import Draft
from ingestd.chunk.emission import chunks
from ingestd.chunk.manuscript import Manuscript, manuscript
from ingestd.chunk.options import ChunkOptions, sizes_of, unit_of
from ingestd.chunk.outline import outline
from ingestd.chunk.scale import Counter, Scale, scaled
from ingestd.chunk.tracing import Value, span
from ingestd.model.document import BlockType, Document
from ingestd.model.recipe import Stage
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

__all__ = [
    "CHUNKERS",
    "COMPAT_VERSION",
    "GRAIN_GROWTH_VERSION",
    "SEEDS",
    "STRUCTURE_FIRST_VERSION",
    "Chunked",
    "Chunker",
    "Embed",
    "chunk",
    "chunk_stage",
]

Embed = Callable[[list[str]], NDArray[Any]]
"""Vectors of texts, shape ``(n, d)``, a row for each."""
COMPAT_VERSION = 1
"""Of the way from a document to the published packages' input; raised whenever it moves a boundary for any document."""
SEEDS: Mapping[str, str] = MappingProxyType(
    {"structure-first": "fancychunk 0.8.0", "grain-growth": "grain-growth-chunking 1.0.0"}
)
"""What the profile ``compat`` of a chunker gives the chunks of."""
STRUCTURE_FIRST_VERSION = section_drafts.VERSION
GRAIN_GROWTH_VERSION = grain_drafts.VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunker:
    """One way to chunk."""

    version: int
    drafts: Callable[[Manuscript], Iterable[Draft]]
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
    document: Document,
    options: ChunkOptions,
    count: TokenCounter,
    segmenter: Segmenter,
    *,
    max_tokens: int,
    embed: Embed | None = None,
) -> Chunked:
    """Chunk the document.

    Parameters
    ----------
    max_tokens
        The embedder's limit, special tokens included.
    embed
        Asked by structure-first in the profile ``compat`` alone, for sections over ``max_size``.

    Returns
    -------
    Chunked
        Chunks in document order; in the profile ``compat`` those of the published package, by the sizes given. Where none
        are given and a chunk of its default size is over ``max_tokens``, by the largest that holds, of which each is
        three quarters of the one before.

        In the profile ``native`` no ``text`` is over ``min(max_size, max_tokens)`` tokens (with ``unit="chars"``: over
        ``max_size`` characters or ``max_tokens`` tokens), whatever the document. A ``text`` is the heading path, a blank
        line and the ``body``; headings that the path says are left out of the body, unless nothing else is in it.
        Structure-first chunks tile the Markdown: ``char_start`` of each is ``char_end`` of the one before it.
        Grain-growth chunks of one split paragraph overlap by a sentence.

    Raises
    ------
    ValueError
        When an option or ``max_tokens`` is out of its range, the document's blocks overlap, or the segmenter loses text.
    NotChunkable
        In the profile ``compat``, when a chunk is over ``max_tokens``, or the published package's rules refuse the
        document.
    """
    sizes = sizes_of(options)
    attributes: dict[str, Value] = {
        "ingestd.chunker": options.name,
        "ingestd.profile": options.profile,
        "ingestd.document.chars": len(document.markdown),
        "ingestd.blocks.count": len(document.blocks),
    }
    with span("ingestd.chunk", attributes) as current:
        if options.profile == "compat":
            # Here, so that the native profile, which nearly everyone uses, never loads the other.
            from ingestd.chunk.compat.chunking import fitted_chunked

            made = fitted_chunked(document, options, count, segmenter, embed, max_tokens=max_tokens)
        else:
            scale, counter = scaled(sizes, unit_of(options), count, max_tokens)
            made = _native(document, CHUNKERS[options.name], scale, counter, segmenter)
        current.set_attribute("ingestd.chunks.count", len(made.chunks))
        current.set_attribute("ingestd.skipped.count", len(made.skipped))
    return made


def _native(document: Document, chunker: Chunker, scale: Scale, counter: Counter, segmenter: Segmenter) -> Chunked:
    with span("ingestd.chunk.outline"):
        outlined = outline(document, chunker.skips)
    if not outlined.blocks:
        return Chunked(chunks=(), skipped=outlined.skipped)
    with span("ingestd.chunk.manuscript"):
        laid_out = manuscript(document.markdown, outlined, scale, counter, segmenter)
    with span("ingestd.chunk.drafts"):
        drafts = chunker.drafts(laid_out)
    with span("ingestd.chunk.emission"):
        made = chunks(laid_out, document.title, drafts, tiled=chunker.tiled)
    return Chunked(chunks=made, skipped=outlined.skipped)


def chunk_stage(
    options: ChunkOptions, segmenter_name: str, tokenizer: str, max_tokens: int, *, embedder: str = ""
) -> Stage:
    """Identity of the chunking stage: all that can move a boundary or change a text.

    Parameters
    ----------
    segmenter_name
        The segmenter's ``name``.
    tokenizer
        Hash of the tokenizer that counts.
    embedder
        Digest of the embedder, whose vectors decide where structure-first in the profile ``compat`` cuts.

    Raises
    ------
    ValueError
        When an option is out of its range.
    """
    sizes = sizes_of(options)
    if options.profile == "compat":
        return _seed_stage(options, segmenter_name, embedder, {"tokenizer": tokenizer, "max_tokens": max_tokens})
    return Stage(
        name=options.name,
        version=CHUNKERS[options.name].version,
        options=MappingProxyType(
            {
                "profile": options.profile,
                **asdict(sizes),
                "unit": unit_of(options),
                "max_tokens": max_tokens,
                "segmenter": segmenter_name,
                "tokenizer": tokenizer,
            }
        ),
    )


def _seed_stage(options: ChunkOptions, segmenter_name: str, embedder: str, lowering: Mapping[str, Any]) -> Stage:
    sizes = sizes_of(options)
    if options.name == "structure-first":
        moving: dict[str, Any] = {"min_size": sizes.min_size, "segmenter": segmenter_name, "embedder": embedder}
    else:
        moving = {"target_size": sizes.target_size}
    if options.max_size is None and options.target_size is None:
        # Sizes that are not given are lowered for a document that needs it.
        moving |= lowering
    identity = {"profile": options.profile, "seed": SEEDS[options.name], "max_size": sizes.max_size, **moving}
    return Stage(name=f"{options.name}-compat", version=COMPAT_VERSION, options=MappingProxyType(identity))
