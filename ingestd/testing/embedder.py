"""What every embedder must do.

A test class of an adapter inherits :class:`EmbedderContract`, gives a fixture ``embedder``, and runs under pytest.
"""

# ruff: noqa: D102  # the names of tests are sentences

import bisect
import json

import numpy as np

from ingestd.errors import ConfigurationError
from ingestd.model.vectors import Matrix
from ingestd.ports.embedder import Embedder

TEXTS = (
    "The settled dust of the workshop floor hid a coin.",
    "Invoices are due within thirty days.",
    "Glaciers move, slowly.",
    "Ein Satz mit Umlauten: Äpfel, Öl, Übermut; и немного кириллицы, 東京.",
    "# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "x",
    " ".join(["A longer paragraph says one thing in many words, so that rows of a batch differ in length."] * 6),
)


class EmbedderContract:
    """The port's promises, one test each."""

    def test_the_identity_is_json_and_known_before_loading(self, embedder: Embedder) -> None:
        assert json.loads(json.dumps(embedder.stage.as_json()))["options"]["dimension"] == embedder.dimension
        assert embedder.max_tokens > 0
        assert 0 <= embedder.tolerance < 0.05

    def test_each_text_gets_one_unit_row_of_float32(self, embedder: Embedder) -> None:
        vectors = _made(embedder, TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-4

    def test_the_same_text_alone_gives_the_same_bits(self, embedder: Embedder) -> None:
        assert _made(embedder, TEXTS[:1]).tobytes() == _made(embedder, TEXTS[:1]).tobytes()

    def test_rows_keep_the_order_of_the_texts(self, embedder: Embedder) -> None:
        alone = np.concatenate([_made(embedder, (text,)) for text in TEXTS])
        backwards = _made(embedder, tuple(reversed(TEXTS)))[::-1]
        assert (backwards @ alone.T).argmax(axis=1).tolist() == list(range(len(TEXTS)))

    def test_company_in_a_batch_moves_a_vector_within_the_tolerance(self, embedder: Embedder) -> None:
        alone = np.concatenate([_made(embedder, (text,)) for text in TEXTS])
        cosines = np.einsum("ij,ij->i", _made(embedder, TEXTS), alone)
        assert cosines.min() >= 1 - max(embedder.tolerance, 1e-5)

    def test_company_of_similar_length_hardly_moves_a_vector(self, embedder: Embedder) -> None:
        alone = np.concatenate([_made(embedder, (text,)) for text in TEXTS[:3]])
        cosines = np.einsum("ij,ij->i", _made(embedder, TEXTS[:3]), alone)
        assert cosines.min() >= 0.99

    def test_different_texts_get_different_vectors(self, embedder: Embedder) -> None:
        vectors = _made(embedder, TEXTS)
        cosines = vectors @ vectors.T - 2 * np.eye(len(TEXTS), dtype=np.float32)
        assert cosines.max() < 0.99

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert _made(embedder, ()).shape == (0, embedder.dimension)
        assert embedder.count_tokens(()) == []

    def test_empty_and_unusual_texts_are_embedded(self, embedder: Embedder) -> None:
        unusual = ("", " \n\t", "a\x00b", "\U0001f9ca" * 5, "lone \ud800 surrogate")
        assert np.isfinite(_made(embedder, unusual)).all()
        assert min(embedder.count_tokens(unusual)) >= 1

    def test_more_words_never_make_fewer_tokens(self, embedder: Embedder) -> None:
        words = " ".join(TEXTS[:4]).split()
        counts = embedder.count_tokens([" ".join(words[:end]) for end in range(len(words) + 1)])
        assert counts == sorted(counts)
        assert counts[-1] > counts[0]

    def test_tokens_are_counted_beyond_the_limit(self, embedder: Embedder) -> None:
        (count,) = embedder.count_tokens(["word " * 4 * embedder.max_tokens])
        assert count > 2 * embedder.max_tokens

    def test_a_text_that_fills_the_limit_is_embedded(self, embedder: Embedder) -> None:
        assert np.isfinite(_made(embedder, (_words(embedder, embedder.max_tokens),))).all()

    def test_a_text_over_the_limit_is_refused_and_never_cut(self, embedder: Embedder) -> None:
        over = _words(embedder, embedder.max_tokens) + " and some more words"
        try:
            _made(embedder, ("short", over))
        except ValueError as error:
            assert str(embedder.max_tokens) in str(error)  # noqa: PT017 - pytest is not imported in what is shipped
        else:
            raise AssertionError("a text over the limit was embedded")

    def test_a_query_gets_one_unit_row(self, embedder: Embedder) -> None:
        embedder.load()
        vector = embedder.embed_query("when are invoices due?")
        assert vector.shape == (1, embedder.dimension)
        assert vector.dtype == np.float32
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-4

    def test_a_query_over_the_limit_is_the_users_to_shorten(self, embedder: Embedder) -> None:
        embedder.load()
        try:
            embedder.embed_query(_words(embedder, embedder.max_tokens) + " and some more words")
        except ConfigurationError as error:
            assert "query" in str(error)  # noqa: PT017 - pytest is not imported in what is shipped
        else:
            raise AssertionError("a query over the limit was embedded")

    def test_a_prefix_tells_a_query_from_a_document(self, embedder: Embedder) -> None:
        cosine = float((_made(embedder, TEXTS[:1]) @ embedder.embed_query(TEXTS[0]).T)[0, 0])
        has_prefix = embedder.stage.options.get("query_prefix") != embedder.stage.options.get("document_prefix", "")
        assert (cosine < 0.999) == (has_prefix and "query_prefix" in embedder.stage.options)

    def test_loading_twice_changes_nothing(self, embedder: Embedder) -> None:
        before = _made(embedder, TEXTS[:1])
        embedder.load()
        assert embedder.embed_documents(TEXTS[:1]).tobytes() == before.tobytes()


def _made(embedder: Embedder, texts: tuple[str, ...]) -> Matrix:
    embedder.load()
    return embedder.embed_documents(texts)


def _words(embedder: Embedder, tokens: int) -> str:
    """Longest run of one word that the embedder counts as at most so many tokens."""
    runs = range(1, 4 * tokens)
    fitting = bisect.bisect_right(runs, tokens, key=lambda words: embedder.count_tokens(["word " * words])[0])
    return "word " * runs[fitting - 1]
