"""Versions of the native chunkers that this installation runs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from ingestd.chunk.chunking import CHUNKERS, Chunked, chunk
from ingestd.chunk.options import ChunkOptions
from ingestd.model.document import Document
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter


class Cut(Protocol):
    """Chunks a document as :func:`ingestd.chunk.chunk` does, by the rules of one version."""

    def __call__(
        self, document: Document, options: ChunkOptions, count: TokenCounter, segmenter: Segmenter, *, max_tokens: int
    ) -> Chunked:
        """Chunk the document."""
        ...


EARLIER: Mapping[str, Mapping[int, Cut]] = MappingProxyType({name: MappingProxyType({}) for name in CHUNKERS})
"""By chunker and version: whole functions, as outline, sizes and wording belong to a version too. A change that raises
``VERSION`` may keep the function that it replaces here, for as long as people adopt the new one."""


def runnable(name: str) -> Mapping[int, Cut]:
    """Versions of the native chunker of this name, the present one last."""
    return MappingProxyType({**EARLIER[name], CHUNKERS[name].version: chunk})
