"""The two published chunkers as the compat profiles give them, with the place of each chunk."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from quality_measures import Piece

from ingestd.chunk.compat import grain_growth, structure_first
from ingestd.model.document import Block, BlockType
from ingestd_adapters.markdown_converter import markdown_document
from ingestd_adapters.onnx_embedder import bge_small

_ENDS = 40
"""Characters, white space aside, by which the beginning and the end of a body are looked up."""
_TYPES = {BlockType.CODE: "paragraph", BlockType.PICTURE: "paragraph", BlockType.FURNITURE: "paragraph"}


class _Bge:
    """The packaged model as fancychunk asks for it."""

    n_ctx = 512

    def __init__(self) -> None:
        self._model = bge_small({"threads": 1})
        self._model.load()

    async def count_tokens(self, texts: list[str], /) -> list[int]:
        return [count - 2 for count in self._model.count_tokens(texts)]

    async def embed_chunklets(self, chunklets: list[str], /) -> NDArray[Any]:
        return np.stack([self._model.embed_documents([text])[0] for text in chunklets]).astype(np.float64)

    async def embed_segment(self, texts: list[str], /) -> tuple[NDArray[Any], list[int]]:
        raise NotImplementedError


async def compat_structure_first(corpus: str, text: str) -> list[Piece]:
    """Chunks at the published defaults, with the punctuation segmenter."""
    segmenter = structure_first.punctuation_segmenter
    chunks = await structure_first.split_chunks_structure_first(text, _Bge(), segmenter=segmenter)
    spans = [(it.start, it.end) for it in chunks if it.start is not None and it.end is not None]
    return [Piece(corpus=corpus, start=start, end=end, text=text[start:end]) for start, end in spans]


def compat_grain_growth(corpus: str, text: str) -> list[Piece]:
    """Chunks at the published defaults; a body is looked up among the blocks that it was made of."""
    document = markdown_document(text, name=corpus)
    blocks: list[Any] = [
        {"type": _TYPES.get(block.type, block.type.value), "page": 0, "text": block.text} for block in document.blocks
    ]
    grains, _ = grain_growth.grow(blocks, corpus)
    return [
        Piece(corpus=corpus, start=start, end=end, text=f"{grain.heading}\n\n{grain.body}")
        for grain in grains
        for start, end in [_place(text, document.blocks[grain.start : grain.stop], grain.body)]
    ]


def _place(text: str, blocks: Sequence[Block], body: str) -> tuple[int, int]:
    """Span of the body in the text, all of its blocks where it cannot be found."""
    low, high = blocks[0].start, blocks[-1].end
    places = [place for place in range(low, high) if not text[place].isspace()]
    dense = "".join(text[place] for place in places)
    wanted = "".join(body.split())
    first = dense.find(wanted[:_ENDS])
    last = dense.find(wanted[-_ENDS:], max(0, first))
    start = places[first] if first >= 0 else low
    end = places[last + len(wanted[-_ENDS:]) - 1] + 1 if last >= 0 else high
    return start, end
