"""Chunks of a document by fancychunk 0.8.0, from its Markdown."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from numpy.typing import NDArray

from ingestd.chunk.chunked import Chunked
from ingestd.chunk.compat import structure_first as seed
from ingestd.chunk.compat.ground import Ground, ground
from ingestd.chunk.compat.segmenting import probabilities
from ingestd.model.chunk import Chunk
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter

Embed = Callable[[list[str]], NDArray[Any]]
"""Vectors of texts, shape ``(n, d)``, a row for each, none of them zero."""
_Made = TypeVar("_Made")


def structure_first_chunked(
    document: Document, count: TokenCounter, segmenter: Segmenter, embed: Embed, *, max_size: int, min_size: int
) -> Chunked:
    """As :func:`structure_first_chunked_async`, with an embedding function that does not wait."""
    return completed(
        structure_first_chunked_async(
            document, count, probabilities(segmenter), Embedding(embed), max_size=max_size, min_size=min_size
        )
    )


async def structure_first_chunked_async(
    document: Document,
    count: TokenCounter,
    segmenter: seed.SentenceSegmenter,
    embedder: seed.ChunkletEmbedder,
    *,
    max_size: int,
    min_size: int | None,
) -> Chunked:
    """Chunks of the document's Markdown, as the published package cuts it.

    Parameters
    ----------
    segmenter, embedder
        Asked for what is over ``max_size`` alone.
    max_size, min_size
        In characters.

    Returns
    -------
    Chunked
        Texts are the package's, as are the bodies: it puts no headings before them. Blocks without text are skipped;
        every other block lies in a chunk.

    Raises
    ------
    FancyChunkError
        As :func:`~ingestd.chunk.compat.structure_first.structure.split_chunks_structure_first` does.
    """
    made = await seed.split_chunks_structure_first(
        document.markdown, embedder, max_size, min_size=min_size, segmenter=segmenter
    )
    laid_out = ground(document)
    counts = count([one.text for one in made])
    return Chunked(
        chunks=tuple(
            _chunk(laid_out, document.title, one, index, tokens)
            for index, (one, tokens) in enumerate(zip(made, counts, strict=True))
        ),
        skipped=laid_out.outline.skipped,
        seeds=tuple([as_json(one) for one in made]),
    )


class Embedding:
    """An embedding function in the shape that the published package asks for."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    async def embed_chunklets(self, chunklets: list[str], /) -> NDArray[Any]:
        """A row for each text."""
        return self._embed(chunklets)


def completed(work: Coroutine[Any, Any, _Made]) -> _Made:
    """Result of a coroutine that never waits, as none does whose embedder is a plain function.

    Raises
    ------
    RuntimeError
        When it waits after all.
    """
    try:
        work.send(None)
    except StopIteration as done:
        made: _Made = done.value
        return made
    work.close()
    raise RuntimeError("the embedder waits for an event loop: await the function's asynchronous form instead")


def as_json(chunk: seed.Chunk) -> dict[str, Any]:
    """What the published package says of a chunk beside its text."""
    path = None if chunk.heading_path is None else list(chunk.heading_path)
    return {"start": chunk.start, "end": chunk.end, "heading_path": path}


def _chunk(laid_out: Ground, title: str, made: seed.Chunk, index: int, tokens: int) -> Chunk:
    start, end = made.start or 0, made.end or 0
    blocks = laid_out.blocks(start, end)
    section = laid_out.section(blocks, before=blocks.start)
    page_start, page_end = laid_out.pages(blocks)
    return Chunk(
        text=made.text,
        body=made.text,
        heading_path=laid_out.path(section),
        title=title,
        section=laid_out.outline.sections[section].name,
        char_start=start,
        char_end=end,
        page_start=page_start,
        page_end=page_end,
        block_types=laid_out.types(blocks),
        index=index,
        n_chars=len(made.text),
        n_tokens=tokens,
    )
