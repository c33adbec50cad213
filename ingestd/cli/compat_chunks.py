"""What ``ingestd chunk --profile compat`` prints: the chunks of the published packages."""

import sys
import threading
from collections.abc import Callable
from functools import partial

from ingestd.chunk import Chunked, ChunkOptions, Embed
from ingestd.chunk.compat.chunking import given_blocks_chunked, seed_chunked, within
from ingestd.chunk.compat.grain_document import Given
from ingestd.chunk.compat.section_document import completed
from ingestd.chunk.compat.structure_first.embedders import noop
from ingestd.cli.chunk import NOOP, blocks_of, file_of
from ingestd.cli.invocation import Invocation
from ingestd.embed.embedding import Embedding
from ingestd.errors import NotChunkable
from ingestd.model.document import Document
from ingestd.pipeline.cuts import cut_vectors
from ingestd.ports.embedder import Embedder
from ingestd.settings import ChunkerSettings, Settings
from ingestd.wiring.engines import chunk_options
from ingestd.wiring.segmenters import segmenter_of


def compat_chunks(invocation: Invocation, settings: Settings, chunker: ChunkerSettings, embedder: Embedder) -> Chunked:
    """Chunks of the file or of the blocks named, by the sizes asked for or the package's own, whatever the embedder takes.

    A warning on stderr tells of those that are over its limit: a daemon would refuse the file, or lower the sizes.
    """
    options = chunk_options(chunker)
    document, cut = _cut(invocation, settings, chunker, options, embedder)
    chunked = cut(options)
    if invocation.arguments.embedder != NOOP:
        try:
            within(chunked, document, embedder.max_tokens)
        except NotChunkable as over:
            sized = options.max_size is not None or options.target_size is not None
            says = "refuse this file" if sized else "cut this file by smaller sizes"
            sys.stderr.write(f"warning: a daemon would {says}: {over}\n")
    return chunked


def embed_with(embedder: Embedder, name: str | None) -> Embed:
    """Embedding function of an embedder, which is loaded when it is first asked; ``noop`` gives equal vectors.

    Parameters
    ----------
    name
        As it was named on the command line.
    """
    if name == NOOP:
        return lambda texts: completed(noop().embed_chunklets(texts))
    embedding = Embedding(name=embedder.stage.name, options={}, cache=None, embedder=embedder)
    return partial(cut_vectors, embedding, threading.Event())


def _cut(
    invocation: Invocation, settings: Settings, chunker: ChunkerSettings, options: ChunkOptions, embedder: Embedder
) -> tuple[Document, Callable[[ChunkOptions], Chunked]]:
    count = embedder.count_tokens
    blocks = blocks_of(invocation, "any" if options.name == "grain-growth" else "known")
    if blocks is not None and options.name == "grain-growth":
        given = Given(blocks=blocks.given, origins=blocks.origins, filename=blocks.filename)  # type: ignore[arg-type]  # checked as they were read
        return blocks.document, lambda sized: given_blocks_chunked(blocks.document, given, sized, count)
    document = file_of(invocation, settings) if blocks is None else blocks.document
    embed, segmenter = embed_with(embedder, invocation.arguments.embedder), segmenter_of(chunker)
    return document, lambda sized: seed_chunked(document, sized, count, segmenter, embed)
