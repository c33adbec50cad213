"""Embeds a large document piece by piece, so that small ones and new ones pass it."""

from ingestd.pipeline.group import Vectors, embed_texts, lacking
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.prepare import Prepared
from ingestd.pipeline.tally import Tally

PIECE_TEXTS = 32
"""Texts embedded before others get their turn: some seconds on a slow CPU, and enough to fill batches."""


class Ahead:
    """Vectors of the one large document that is being embedded ahead of its turn."""

    def __init__(self, parts: Parts, tally: Tally) -> None:
        self._parts = parts
        self._tally = tally
        self._of: tuple[int, int] | None = None
        self._left: list[str] = []
        self.vectors: Vectors = {}
        """By embedding and text; what :func:`ingestd.pipeline.group.embed` need not embed again."""

    def step(self, prepared: Prepared) -> bool:
        """Embed one more piece of the document; true when nothing of it is left.

        Raises
        ------
        Stopped
            When told to stop.
        BadVectors, EmbedderUnavailable
            As bringing the document in will meet them too.
        """
        document = (prepared.source.id, prepared.source.seq)
        if self._of != document:
            self.forget()
            self._of = document
            self._left = list(dict.fromkeys(lacking(self._parts, prepared).values()))
        piece, self._left = self._left[:PIECE_TEXTS], self._left[PIECE_TEXTS:]
        if piece:
            self.vectors.update(embed_texts(self._parts, prepared.plan.embedding, piece, self._tally))
        return not self._left

    def forget(self) -> None:
        """Let go of the vectors: the document was brought in, or given up."""
        self._of, self._left, self.vectors = None, [], {}
