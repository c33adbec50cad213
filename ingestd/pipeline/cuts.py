"""Vectors by which a chunker cuts what is too large."""

import numpy as np

from ingestd.embed.beginnings import beginnings
from ingestd.embed.embedding import Embedding
from ingestd.errors import EmbedderUnavailable, IngestdError
from ingestd.model.vectors import Matrix
from ingestd.pipeline.parts import Stop

_TEXTS_AT_ONCE = 256
"""Others that wait for the embedder get their turn after so many."""


def cut_vectors(embedding: Embedding, stop: Stop, texts: list[str]) -> Matrix:
    """Vectors of the texts, shape ``(len(texts), dimension)``, from the cache where they are known; safe from any thread.

    Of a text over the embedder's limit its beginning counts: the chunk that holds it is refused afterwards.

    Raises
    ------
    EmbedderUnavailable
        When it does not answer, or all is about to end.
    RuntimeError
        When it fails over these texts while it answers to others: tried some times, then the document waits for a person.
    BadVectors
        When a text gets no usable vector.
    """
    known = beginnings(texts, embedding.count, embedding.max_tokens)
    rows = [
        _vectors(embedding, stop, known[start : start + _TEXTS_AT_ONCE])
        for start in range(0, len(known), _TEXTS_AT_ONCE)
    ]
    return np.concatenate(rows)


def _vectors(embedding: Embedding, stop: Stop, texts: list[str]) -> Matrix:
    def look(_done: int) -> None:
        if stop.is_set():
            raise EmbedderUnavailable("told to stop: this process is about to end")

    try:
        return embedding.vectors(texts, progress=look).matrix
    except EmbedderUnavailable as error:
        if stop.is_set() or not _answers(embedding):
            raise
        raise RuntimeError(f"the embedder fails over sections of this document alone: {error}") from error


def _answers(embedding: Embedding) -> bool:
    try:
        embedding.query("ingestd")
    except IngestdError:
        return False
    return True
