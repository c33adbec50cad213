"""Spans that other chunkers give, as JSON lines; run in an environment of its own.

``quality_peers.py NAME`` reads texts as JSON lines from stdin and writes for each a line with the spans and CPU seconds.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from ingestd_adapters.onnx_embedder import bge_small

Split = Callable[[str], list[tuple[int, int]]]

_EMBEDDER = bge_small({"threads": 1})
_SENTENCES = ["\n\n", "\n", ". ", "? ", "! ", " ", ""]
"""LangChain's own separators know no sentences; the report found these the better ones."""


def _tokens(text: str) -> int:
    return _EMBEDDER.count_tokens([text])[0] - 2


def _langchain(size: int, overlap: int, markdown: bool = False) -> Split:
    from langchain_text_splitters import MarkdownTextSplitter, RecursiveCharacterTextSplitter

    options: dict[str, Any] = {"chunk_size": size, "chunk_overlap": overlap, "length_function": _tokens}
    options["add_start_index"] = True
    if markdown:
        splitter = MarkdownTextSplitter(**options)
    else:
        splitter = RecursiveCharacterTextSplitter(separators=_SENTENCES, **options)

    def split(text: str) -> list[tuple[int, int]]:
        starts = [(one.metadata["start_index"], one.page_content) for one in splitter.create_documents([text])]
        return [(start, start + len(content)) for start, content in starts]

    return split


def _chonkie_recursive(size: int) -> Split:
    from chonkie import RecursiveChunker

    return _chonkie(RecursiveChunker(tokenizer=_tokens, chunk_size=size))


def _chonkie_semantic(size: int) -> Split:
    from chonkie import SemanticChunker
    from chonkie.embeddings import BaseEmbeddings

    class Bge(BaseEmbeddings):
        """The benchmark's model under chonkie's names."""

        dimension = 384

        def __init__(self) -> None:
            super().__init__()
            _EMBEDDER.load()

        def embed(self, text: str) -> Any:
            while text and _EMBEDDER.count_tokens([text])[0] > _EMBEDDER.max_tokens:
                text = text[: len(text) * 3 // 4]
            return _EMBEDDER.embed_documents([text])[0]

        def get_tokenizer(self) -> Any:
            return _tokens

    return _chonkie(SemanticChunker(embedding_model=Bge(), chunk_size=size))


def _chonkie(chunker: Any) -> Split:
    return lambda text: [(one.start_index, one.end_index) for one in chunker.chunk(text)]


PEERS: dict[str, Callable[[], Split]] = {
    "langchain 250/125": lambda: _langchain(250, 125),
    "langchain 250/0": lambda: _langchain(250, 0),
    "langchain 400/0": lambda: _langchain(400, 0),
    "langchain 130/0": lambda: _langchain(130, 0),
    "langchain Markdown 250/0": lambda: _langchain(250, 0, markdown=True),
    "chonkie recursive 250": lambda: _chonkie_recursive(250),
    "chonkie recursive 130": lambda: _chonkie_recursive(130),
    "chonkie semantic 250": lambda: _chonkie_semantic(250),
}


def main() -> None:
    split = PEERS[sys.argv[1]]()
    split("One sentence. Another one.")
    for line in sys.stdin:
        began = time.process_time()
        spans = split(json.loads(line))
        print(json.dumps({"spans": spans, "seconds": time.process_time() - began}), flush=True)


if __name__ == "__main__":
    main()
