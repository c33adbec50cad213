"""Chunks of a document that is given as typed blocks."""

from collections.abc import Sequence
from typing import TypedDict

from ingestd.chunk.compat.grain_growth.blocks import Block
from ingestd.chunk.compat.grain_growth.formulas import BETWEEN
from ingestd.chunk.compat.grain_growth.grains import (
    DEFAULT_MAX_CHARS,
    DEFAULT_TARGET_CHARS,
    FORMULA_LEAD_SENTENCES,
    grow,
)
from ingestd.chunk.compat.grain_growth.growth import Grain


class ChunkMetadata(TypedDict):
    """What is known of a chunk; pages count from 0."""

    filename: str
    title: str
    section: str | None
    page_start: int | None
    page_end: int | None
    block_types: str
    chunk_index: int
    n_chars: int


class Chunk(TypedDict):
    """A chunk: ``text`` is the heading above the body."""

    text: str
    body: str
    metadata: ChunkMetadata


def chunk_document(
    blocks: Sequence[Block],
    filename: str,
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
    lead_sentences: int = FORMULA_LEAD_SENTENCES,
) -> tuple[list[Chunk], list[Block]]:
    """Chunks in order, then the blocks that are in none: authors, footnotes, formulas too short to tell anything.

    Parameters
    ----------
    blocks
        In reading order. A list: of an iterator, all up to the first title is lost, as in the published package.
    filename
        The title where no block has one.
    target_chars, max_chars, lead_sentences
        As `grow` takes them.

    Raises
    ------
    ValueError
        As `grow` does.
    """
    grains, skipped = grow(blocks, filename, target_chars, max_chars, lead_sentences)
    return [as_chunk(grain, filename, index) for index, grain in enumerate(grains)], skipped


def as_chunk(grain: Grain, filename: str, index: int) -> Chunk:
    """The grain as the published package gives a chunk."""
    return {
        "text": f"{grain.heading}{BETWEEN}{grain.body}",
        "body": grain.body,
        "metadata": {
            "filename": filename,
            "title": grain.title,
            "section": grain.section,
            "page_start": grain.page_start,
            "page_end": grain.page_end,
            "block_types": ",".join(grain.types),
            "chunk_index": index,
            "n_chars": len(grain.body),
        },
    }
