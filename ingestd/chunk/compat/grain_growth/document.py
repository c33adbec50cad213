"""Chunks of a document that is given as typed blocks."""

from collections.abc import Sequence
from typing import TypedDict

from ingestd.chunk.compat.grain_growth.blocks import Block
from ingestd.chunk.compat.grain_growth.formulas import BETWEEN
from ingestd.chunk.compat.grain_growth.grains import (
    DEFAULT_MAX_CHARS,
    DEFAULT_TARGET_CHARS,
    FORMULA_LEAD_SENTENCES,
    grow_into,
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
    blocks, filename, target_chars, max_chars, lead_sentences
        As `grow_into` takes them.

    Raises
    ------
    ValueError
        As `grow_into` does.
    """
    chunks: list[Chunk] = []
    skipped = grow_into(
        lambda grain: chunks.append(as_chunk(grain, filename, len(chunks))),
        blocks,
        filename,
        target_chars,
        max_chars,
        lead_sentences,
    )
    return chunks, skipped


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
            "block_types": grain.types,
            "chunk_index": index,
            "n_chars": len(grain.body),
        },
    }
