import random
import threading

import numpy as np
import pytest

from ingestd.embed.cache import VectorCache
from ingestd.embed.embedding import Embedding
from ingestd.errors import BadVectors, ConfigurationError, EmbedderUnavailable
from ingestd.testing.counting_embedder import CountingEmbedder

PATIENCE = 20


@pytest.fixture
def cache(tmp_path):
    cache = VectorCache(tmp_path / "vectors.sqlite")
    yield cache
    cache.close()


def embedding(embedder, cache=None, **more):
    return Embedding(name="counting", options={}, cache=cache, embedder=embedder, **more)


def texts_of(seed, count):
    rng = random.Random(seed)
    return [" ".join(f"w{rng.randrange(1000)}" for _ in range(rng.randrange(1, 60))) for _ in range(count)]


def alone(text):
    return CountingEmbedder().embed_documents([text])[0]


def test_rows_follow_the_texts_whatever_the_batches_were():
    texts = texts_of(1, 120)
    made = embedding(CountingEmbedder()).vectors(texts)
    assert made.matrix.tobytes() == np.stack([alone(text) for text in texts]).tobytes()
    assert (made.embedded, made.reused) == (120, 0)
    assert made.seconds >= 0


def test_the_same_text_is_never_embedded_twice(cache):
    embedder = CountingEmbedder()
    owner = embedding(embedder, cache)
    first = owner.vectors(["a", "b c", "a"])
    second = owner.vectors(["b c", "new", "a", "a"])
    assert (first.embedded, first.reused) == (2, 1)
    assert (second.embedded, second.reused) == (1, 3)
    assert set(embedder.embedded.values()) == {1}
    assert second.matrix[2].tobytes() == second.matrix[3].tobytes() == first.matrix[0].tobytes()


def test_a_text_seen_before_a_restart_is_not_embedded_again(tmp_path):
    for embedder, expected in ((CountingEmbedder(), 2), (CountingEmbedder(), 0)):
        cache = VectorCache(tmp_path / "vectors.sqlite")
        assert embedding(embedder, cache).vectors(["a", "b"]).embedded == expected
        cache.close()
        assert len(embedder.embedded) == expected


def test_another_identity_embeds_the_same_texts_anew(cache):
    embedding(CountingEmbedder(), cache).vectors(["a"])
    assert embedding(CountingEmbedder(version=2), cache).vectors(["a"]).embedded == 1


def test_two_callers_with_the_same_texts_embed_them_once(cache):
    embedder = CountingEmbedder()
    owner = embedding(embedder, cache)
    texts = texts_of(2, 60)
    made, gate = [], threading.Barrier(4)

    def call():
        gate.wait(PATIENCE)
        made.append(owner.vectors(texts).matrix)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert set(embedder.embedded.values()) == {1}
    assert len({matrix.tobytes() for matrix in made}) == 1


def test_batches_are_filled_across_all_texts_and_keep_their_budget():
    embedder = CountingEmbedder()
    embedding(embedder, batch_tokens=128).vectors(texts_of(3, 100))
    assert max(len(batch) * max(embedder.count_tokens(batch)) for batch in embedder.batches) <= 128
    assert len(embedder.batches) < 50


def test_without_a_cache_only_the_call_itself_is_remembered():
    embedder = CountingEmbedder()
    owner = embedding(embedder)
    owner.vectors(["a", "a"])
    owner.vectors(["a"])
    assert embedder.embedded["a"] == 2


def test_no_texts_start_nothing():
    embedder = CountingEmbedder()
    owner = embedding(embedder)
    assert owner.vectors([]).matrix.shape == (0, 8)
    assert owner.device is None
    assert embedder.loads == 0


def test_counting_and_the_identity_start_nothing():
    embedder = CountingEmbedder()
    owner = embedding(embedder)
    assert owner.count(["a b", "c"]) == [4, 3]
    assert (owner.dimension, owner.max_tokens, owner.stage.name) == (8, 512, "counting")
    assert embedder.loads == 0


def test_a_text_over_the_limit_is_refused_before_anything_is_embedded(cache):
    embedder = CountingEmbedder(max_tokens=10)
    with pytest.raises(ValueError, match=r"a text of 22 tokens .* over the 10"):
        embedding(embedder, cache).vectors(["short", "word " * 20])
    assert embedder.batches == []


def test_a_lack_of_memory_halves_the_batches_and_loses_nothing(cache):
    embedder = CountingEmbedder(memory_tokens=100)
    owner = embedding(embedder, cache)
    texts = texts_of(4, 80)
    made = owner.vectors(texts)
    assert made.matrix.tobytes() == np.stack([alone(text) for text in texts]).tobytes()
    failed = [batch for batch in embedder.batches if len(batch) * max(embedder.count_tokens(batch)) > 100]
    assert 1 <= len(failed) <= 4
    before = len(embedder.batches)
    owner.vectors(texts_of(5, 80))
    later = embedder.batches[before:]
    assert all(len(batch) * max(embedder.count_tokens(batch)) <= 100 for batch in later)


def test_a_device_too_small_for_one_text_is_unavailable(cache):
    owner = embedding(CountingEmbedder(memory_tokens=5), cache)
    with pytest.raises(EmbedderUnavailable, match="no memory for one text") as caught:
        owner.vectors(["a", "one two three four five"])
    assert caught.value.delay_seconds


def test_a_row_that_is_bad_only_in_company_is_mended_by_itself(cache):
    embedder = CountingEmbedder(unusable_in_batches=frozenset({"b"}))
    made = embedding(embedder, cache).vectors(["a", "b", "c"])
    assert made.matrix.tobytes() == np.stack([alone(text) for text in "abc"]).tobytes()
    assert embedder.batches[-1] == ("b",)


def test_a_text_with_a_bad_vector_is_named_and_the_others_are_kept(cache):
    embedder = CountingEmbedder(unusable=frozenset({"bad"}))
    owner = embedding(embedder, cache)
    with pytest.raises(BadVectors, match="the text at 1: 8 of its 8 numbers are not finite") as caught:
        owner.vectors(["a", "bad", "b", "bad"])
    assert caught.value.rows == (1, 3)
    assert embedder.embedded["bad"] == 2
    assert owner.vectors(["a", "b"]).embedded == 0


def test_vectors_of_a_wrong_width_are_bad():
    class Wider(CountingEmbedder):
        def embed_documents(self, texts):
            return np.repeat(super().embed_documents(texts), 2, axis=1)

    with pytest.raises(BadVectors, match=r"shape \(1, 16\), not \(1, 8\)"):
        embedding(Wider()).vectors(["a", "b"])


def test_progress_is_told_after_each_batch():
    told = []
    embedding(CountingEmbedder(), batch_tokens=64).vectors(texts_of(6, 50), progress=told.append)
    assert sum(told) == 50
    assert len(told) > 5


def test_a_call_that_is_abandoned_keeps_what_was_embedded(cache):
    class Stopped(Exception):
        pass

    def stop(_texts):
        raise Stopped

    embedder = CountingEmbedder()
    owner = embedding(embedder, cache, batch_tokens=64)
    texts = texts_of(7, 50)
    with pytest.raises(Stopped):
        owner.vectors(texts, progress=stop)
    (first,) = embedder.batches
    owner.vectors(texts)
    assert set(embedder.embedded.values()) == {1}
    assert len(first) < 50


def test_a_full_disk_of_the_cache_stops_nothing(cache):
    owner = embedding(CountingEmbedder(), cache)
    owner.vectors(["a"])
    pages = cache._database.execute("PRAGMA page_count").fetchone()[0]
    cache._database.execute(f"PRAGMA max_page_count = {pages}")
    texts = texts_of(9, 1200)
    made = owner.vectors(texts)
    assert made.matrix.tobytes() == np.stack([alone(text) for text in texts]).tobytes()


def test_a_query_goes_ahead_of_the_batches_that_are_left():
    asked, in_batch = [], threading.Event()

    class Gated(CountingEmbedder):
        def embed_documents(self, texts):
            asked.append("batch")
            if len(asked) == 1:
                in_batch.set()
                until_waiting()
            return super().embed_documents(texts)

        def embed_query(self, text):
            asked.append("query")
            return super().embed_query(text)

    owner = embedding(Gated(), batch_tokens=64)

    def until_waiting():
        pause = threading.Event()
        while not owner._owner._turns._queries:
            pause.wait(0.001)

    batches = threading.Thread(target=lambda: owner.vectors(texts_of(8, 50)), daemon=True)
    batches.start()
    assert in_batch.wait(PATIENCE)
    vector = owner.query("what?")
    batches.join(PATIENCE)
    assert vector.shape == (8,)
    assert asked[:2] == ["batch", "query"]
    assert asked.count("batch") > 5


def test_a_query_over_the_limit_is_the_users_to_shorten():
    with pytest.raises(ConfigurationError, match="the query has"):
        embedding(CountingEmbedder(max_tokens=10)).query("word " * 20)


def test_a_query_with_a_bad_vector_is_refused():
    with pytest.raises(BadVectors, match="the vector of the query is unusable"):
        embedding(CountingEmbedder(unusable=frozenset({"query: x"}))).query("x")


def test_an_idle_device_is_let_go_of_and_comes_back():
    now = [0.0]
    embedder = CountingEmbedder()
    owner = embedding(embedder, idle_seconds=60, clock=lambda: now[0])
    assert not owner.unload_if_idle(1000)
    owner.vectors(["a"])
    assert owner.device == "cpu"
    assert not owner.unload_if_idle(59)
    assert owner.unload_if_idle(60)
    assert owner.device is None
    owner.vectors(["b"])
    assert embedder.loads == 2


def test_a_device_is_never_unloaded_without_an_idle_time():
    owner = embedding(CountingEmbedder())
    owner.vectors(["a"])
    assert not owner.unload_if_idle(1e12)


def test_a_closed_embedding_is_unavailable():
    owner = embedding(CountingEmbedder())
    owner.vectors(["a"])
    owner.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        owner.vectors(["b"])
    with pytest.raises(EmbedderUnavailable, match="closed"):
        owner.query("b")
    owner.close()
