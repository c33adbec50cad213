"""A document into chunks, its headings first."""

from itertools import accumulate, pairwise

from ingestd.chunk.compat.structure_first.blocks import blocks_of
from ingestd.chunk.compat.structure_first.chunk import Chunk
from ingestd.chunk.compat.structure_first.chunklets import chunklets_of
from ingestd.chunk.compat.structure_first.chunks import chunk_texts
from ingestd.chunk.compat.structure_first.constants import DEFAULT_MAX_SIZE_CHARS
from ingestd.chunk.compat.structure_first.errors import ValidationError
from ingestd.chunk.compat.structure_first.headings import with_heading_paths
from ingestd.chunk.compat.structure_first.protocols import ChunkletEmbedder, SentenceSegmenter
from ingestd.chunk.compat.structure_first.sentences import sentences_of
from ingestd.chunk.compat.structure_first.units import Unit, plan_units
from ingestd.chunk.tracing import Span, Value, span


async def split_chunks_structure_first(
    document: str,
    embedder: ChunkletEmbedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    *,
    min_size: int | None = None,
    segmenter: SentenceSegmenter | None = None,
) -> list[Chunk]:
    """Make chunks of whole sections, and split by meaning only those that are too large.

    Parameters
    ----------
    document
        Markdown.
    embedder, segmenter
        Asked only for what is too large; the segmenter may be missing where nothing is.
    max_size, min_size
        As for :func:`~ingestd.chunk.compat.structure_first.units.plan_units`.

    Returns
    -------
    list of Chunk
        None over ``max_size``; they tile the document, but for units of white space over ``max_size``, which the seed
        drops.

    Raises
    ------
    ValidationError
        When ``max_size`` is not positive, or as the three stages say.
    """
    if max_size <= 0:
        raise ValidationError(f"max_size must be positive, got {max_size}")
    if not document:
        return []
    attributes: dict[str, Value] = {"fancychunk.document.chars": len(document), "fancychunk.max_size": max_size}
    with span("fancychunk.split_chunks_structure_first", attributes) as current:
        units = plan_units(document, max_size, min_size=min_size)
        chunks: list[Chunk] = []
        for unit in units:
            text = document[unit.start : unit.end]
            texts = await _split(text, embedder, max_size, segmenter) if unit.needs_model else [text]
            places = accumulate(map(len, texts), initial=unit.start)
            chunks += [Chunk(each, start, end) for each, (start, end) in zip(texts, pairwise(places), strict=True)]
        _describe(current, units)
        return with_heading_paths(chunks)


def _describe(current: Span, units: list[Unit]) -> None:
    for name, needs_model in (("direct", False), ("fallback", True)):
        chars = [unit.end - unit.start for unit in units if unit.needs_model is needs_model]
        current.set_attribute(f"fancychunk.units.{name}", len(chars))
        current.set_attribute(f"fancychunk.chars.{name}", sum(chars))


async def _split(
    text: str, embedder: ChunkletEmbedder, max_size: int, segmenter: SentenceSegmenter | None
) -> list[str]:
    """Texts of the chunks of one large unit, parsed once for all three stages."""
    blocks = blocks_of(text)
    sentences = sentences_of(text, max_size, segmenter, blocks)
    chunklets = chunklets_of(sentences, text, blocks, max_size)
    del sentences
    return await chunk_texts(chunklets, embedder, max_size, blocks)
