"""Vectors by which a chunker cuts."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from ingestd.embed.embedding import Embedding
from ingestd.errors import EmbedderUnavailable
from ingestd.model.vectors import Matrix
from ingestd.pipeline.cuts import cut_vectors
from ingestd.testing.counting_embedder import CountingEmbedder


class _Refusing(CountingEmbedder):
    """Has no memory for documents; queries are answered, or not."""

    def __init__(self, *, queries: bool) -> None:
        super().__init__()
        self._queries = queries

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        raise MemoryError

    def embed_query(self, text: str) -> Matrix:
        if not self._queries:
            raise MemoryError
        return super().embed_query(text)


def embedding(embedder: CountingEmbedder) -> Embedding:
    return Embedding(name="counting", options={}, cache=None, embedder=embedder)


def test_each_text_has_its_row_whatever_its_length() -> None:
    made = embedding(CountingEmbedder())
    texts = [f"text {number}" for number in range(300)] + ["word " * 5000]
    rows = cut_vectors(made, threading.Event(), texts)
    assert rows.shape == (301, made.dimension)
    assert np.array_equal(rows[:2], cut_vectors(made, threading.Event(), texts[:2]))
    made.close()


def test_a_stop_ends_it() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(EmbedderUnavailable, match="told to stop"):
        cut_vectors(embedding(CountingEmbedder()), stop, ["a"])


def test_an_embedder_that_is_away_is_waited_for() -> None:
    with pytest.raises(EmbedderUnavailable):
        cut_vectors(embedding(_Refusing(queries=False)), threading.Event(), ["a"])


def test_texts_that_only_this_document_fails_with_are_a_fault_of_it() -> None:
    with pytest.raises(RuntimeError, match="sections of this document alone"):
        cut_vectors(embedding(_Refusing(queries=True)), threading.Event(), ["a"])
