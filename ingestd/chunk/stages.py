"""The stages of structure-first on their own, each in both profiles.

In the profile ``compat`` a stage is fancychunk's of the same name. ``native`` mends what is wrong there, and keeps what is
not: lengths that cannot be had are no error but a cut, and headings are real ones, with the chunk's own among them.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ingestd import registry
from ingestd.chunk.chunking import Embed
from ingestd.chunk.compat import grain_growth
from ingestd.chunk.compat import structure_first as seed
from ingestd.chunk.compat.section_document import Embedding, completed
from ingestd.chunk.compat.segmenting import as_segmenter, probabilities
from ingestd.chunk.compat.structure_first.constants import (
    DEFAULT_MAX_SIZE_CHARS,
    DEFAULT_PREAMBLE_FRACTION,
    MIN_SENTENCE_CHARS,
)
from ingestd.chunk.compat.structure_first.protocols import KnownProbabilities, Matrix
from ingestd.chunk.long_text import parts_of
from ingestd.chunk.real_headings import leading_lines, real_heading_paths
from ingestd.chunk.typed_blocks import faults, shown
from ingestd.ports.segmenter import Segmenter

Profile = Literal["native", "compat"]
Cost = Callable[..., float] | None


def split_sentences(
    document: str,
    min_len: int = MIN_SENTENCE_CHARS,
    max_len: int | None = None,
    known_boundary_probas: KnownProbabilities = None,
    *,
    segmenter: Segmenter | seed.SentenceSegmenter | None = None,
    profile: Profile = "native",
) -> list[str]:
    """Sentences of a document, whose concatenation it is.

    Parameters
    ----------
    document
        Any text.
    min_len
        Characters below which a sentence goes with the one after it, where both together keep ``max_len``.
    max_len
        Most characters of a sentence. ``native`` cuts a longer one after a line, a word or a grapheme.
    known_boundary_probas
        Of fancychunk, for the profile ``compat``.
    segmenter
        ``None``: the one without a model.

    Raises
    ------
    ValueError
        When a parameter is out of its range, or, with ``compat``, as fancychunk's stage.
    """
    given = as_segmenter(segmenter) or _default_segmenter()
    if profile == "compat":
        return seed.split_sentences(document, min_len, max_len, known_boundary_probas, segmenter=probabilities(given))
    if min_len < 0 or (max_len is not None and max_len < 1):
        raise ValueError(f"min_len must be at least 0 and max_len at least 1; got {min_len} and {max_len}")
    if known_boundary_probas is not None:
        raise ValueError('known_boundary_probas is read in the profile "compat" alone: leave it out')
    longest = max_len or max(1, len(document))
    parts = [part for sentence in given.split(document) for part in parts_of(sentence, longest)]
    return _joined(parts, min_len, longest)


def split_chunklets(
    sentences: list[str],
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    boundary_cost: Cost = None,
    statement_cost: Cost = None,
    *,
    profile: Profile = "native",
) -> list[str]:
    """Runs of sentences that say a few things each.

    ``native`` cuts a sentence over ``max_size``, where ``compat`` refuses it as fancychunk does.
    """
    given = sentences if profile == "compat" or max_size < 1 else _within(sentences, max_size)
    return seed.split_chunklets(given, max_size, boundary_cost, statement_cost)


def split_chunks(
    chunklets: list[str],
    embed: Embed | seed.ChunkletEmbedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    *,
    profile: Profile = "native",
) -> list[seed.Chunk]:
    """Chunks of at most ``max_size`` characters, cut where neighbouring chunklets are least alike.

    Parameters
    ----------
    embed
        Vectors of the chunklets, or an embedder of fancychunk's form that never waits; see :func:`split_chunks_async`.
    """
    return completed(split_chunks_async(chunklets, as_embedder(embed), max_size, profile=profile))


async def split_chunks_async(
    chunklets: list[str],
    embedder: seed.ChunkletEmbedder,
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    *,
    profile: Profile = "native",
) -> list[seed.Chunk]:
    """As :func:`split_chunks`, with an embedder that is awaited.

    ``native`` cuts a chunklet over ``max_size``, which ``compat`` refuses, and gives paths of :func:`heading_paths`.
    """
    if profile == "compat":
        return await seed.split_chunks(chunklets, embedder, max_size)
    made = await seed.split_chunks(_within(chunklets, max_size) if max_size > 0 else chunklets, embedder, max_size)
    return [replace(chunk, heading_path=path) for chunk, path in zip(made, heading_paths(made), strict=True)]


def heading_paths(chunks: Sequence[seed.Chunk], *, profile: Profile = "native") -> list[tuple[str, ...]]:
    """Headings of each of a document's consecutive chunks, outermost first, each with its marks.

    ``native``: ancestors and the chunk's own heading, of real headings alone. ``compat``: what fancychunk says, those in
    force before the chunk.
    """
    if profile == "compat":
        return seed.heading_paths(list(chunks))
    return real_heading_paths([chunk.text for chunk in chunks])


def enrich_with_headings(chunks: Sequence[seed.Chunk], *, profile: Profile = "native") -> list[seed.Chunk]:
    """The chunks, their headings put before their texts.

    ``native``: a blank line follows, and headings that the text begins with are not said twice.
    """
    if profile == "compat":
        return seed.enrich_with_headings(list(chunks))
    made: list[seed.Chunk] = []
    for chunk, path in zip(chunks, heading_paths(chunks), strict=True):
        before = path[: len(path) - leading_lines(chunk.text, path)]
        text = "\n".join(before) + "\n\n" + chunk.text if before else chunk.text
        made.append(replace(chunk, text=text, heading_path=path))
    return made


def embed_with_late_chunking(
    chunks: list[seed.Chunk],
    embedder: seed.SegmentEmbedder,
    max_tokens_per_segment: int | None = None,
    preamble_fraction: float = DEFAULT_PREAMBLE_FRACTION,
    *,
    normalize: bool = True,
    include_headings: bool = True,
    profile: Profile = "native",
) -> Matrix:
    """As :func:`embed_with_late_chunking_async`, for callers without an event loop. Experimental.

    Raises
    ------
    RuntimeError
        Inside an event loop: await the asynchronous form there.
    """
    work = embed_with_late_chunking_async(
        chunks,
        embedder,
        max_tokens_per_segment,
        preamble_fraction,
        normalize=normalize,
        include_headings=include_headings,
        profile=profile,
    )
    try:
        return asyncio.run(work)
    finally:
        work.close()


async def embed_with_late_chunking_async(
    chunks: list[seed.Chunk],
    embedder: seed.SegmentEmbedder,
    max_tokens_per_segment: int | None = None,
    preamble_fraction: float = DEFAULT_PREAMBLE_FRACTION,
    *,
    normalize: bool = True,
    include_headings: bool = True,
    profile: Profile = "native",
) -> Matrix:
    """Vectors of chunks embedded with their surroundings, shape ``(len(chunks), d)``. Experimental: measured worse.

    Both profiles embed alike; ``native`` puts the headings of :func:`heading_paths` before a pass. See
    :func:`ingestd.chunk.compat.structure_first.embed_with_late_chunking` for the parameters, and for the measured harm.
    """
    given = chunks
    if profile == "native":
        given = [replace(chunk, heading_path=path) for chunk, path in zip(chunks, heading_paths(chunks), strict=True)]
    return await seed.embed_with_late_chunking(
        given, embedder, max_tokens_per_segment, preamble_fraction, normalize, include_headings
    )


def validate_blocks(blocks: object, *, strict: bool = True, profile: Profile = "native") -> list[str]:
    """What is wrong with typed blocks, one message a problem.

    ``native`` knows the types of :class:`ingestd.model.document.BlockType`; ``compat`` those of grain-growth 1.0.0.

    Raises
    ------
    ValueError
        Strict, and there are problems: it names the first five.
    """
    if profile == "compat":
        return grain_growth.validate_blocks(blocks, strict=strict)
    if isinstance(blocks, list | tuple):
        found = faults(blocks)  # pyright: ignore[reportUnknownArgumentType]  # of anything
    else:
        found = [f"blocks must be a list, got {type(blocks).__name__}"]
    if strict and found:
        raise ValueError(f"invalid blocks: {shown(found)}")
    return found


def as_embedder(embed: Embed | seed.ChunkletEmbedder) -> seed.ChunkletEmbedder:
    """An embedding function, or an embedder, as an embedder."""
    return Embedding(embed) if callable(embed) else embed


def _joined(parts: Sequence[str], least: int, longest: int) -> list[str]:
    made: list[str] = []
    for part in parts:
        if made and len(made[-1]) < least and len(made[-1]) + len(part) <= longest:
            made[-1] += part
        else:
            made.append(part)
    if len(made) > 1 and len(made[-1]) < least and len(made[-2]) + len(made[-1]) <= longest:
        made[-2:] = ["".join(made[-2:])]
    return made


def _within(texts: Sequence[str], longest: int) -> list[str]:
    return [part for text in texts for part in (parts_of(text, longest) if len(text) > longest else (text,))]


def _default_segmenter() -> Segmenter:
    made: Segmenter = registry.factory("segmenters", "sentencex")()
    return made
