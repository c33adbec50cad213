import hashlib

import numpy as np
import pytest

from ingestd.errors import ConfigurationError
from ingestd_adapters.hash_embedder import hash_embedder


def test_vectors_are_the_same_on_every_machine():
    row = hash_embedder({"dimension": 3}).embed_documents(["text"])[0]
    drawn = np.frombuffer(hashlib.shake_128(b"text").digest(6), "<u2").astype(np.float64) - 32767.5
    assert np.allclose(row, drawn / np.linalg.norm(drawn), atol=1e-6)


def test_a_query_of_a_texts_own_words_finds_it():
    embedder = hash_embedder({})
    texts = [f"text {number}" for number in range(500)]
    assert (embedder.embed_documents(texts) @ embedder.embed_query("text 77")[0]).argmax() == 77


def test_no_company_changes_a_vector():
    embedder = hash_embedder({})
    texts = [f"text {number}" for number in range(50)]
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    assert embedder.embed_documents(texts).tobytes() == alone.tobytes()


def test_what_shapes_the_vectors_is_in_the_identity():
    digests = {hash_embedder(options).stage.digest for options in ({}, {"dimension": 8}, {"max_tokens": 99})}
    assert len(digests) == 3


@pytest.mark.parametrize("options", [{"dimension": 0}, {"dimension": "8"}, {"max_tokens": -1}, {"seed": 1}])
def test_an_option_that_cannot_be_honoured_is_refused(options):
    with pytest.raises(ConfigurationError):
        hash_embedder(options)
