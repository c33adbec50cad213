"""The embedder in a process of its own."""

import os
import signal
import threading

import numpy as np
import pytest

from ingestd.embed.cache import VectorCache
from ingestd.embed.device import ChildDevice
from ingestd.embed.embedding import Embedding
from ingestd.embed.process import answerer
from ingestd.embed.query import embed_query_here
from ingestd.errors import AdapterUnavailable, ConfigurationError, EmbedderUnavailable
from ingestd.failpoints import VARIABLE
from ingestd.model.identity import Digest
from ingestd.testing.counting_embedder import CountingEmbedder
from ingestd_adapters.hash_embedder import hash_embedder

TEXTS = [f"text number {number}" for number in range(200)]


@pytest.fixture
def owner():
    owner = Embedding(name="hash", options={"dimension": 32}, cache=None)
    yield owner
    owner.close()


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def here(texts):
    return hash_embedder({"dimension": 32}).embed_documents(texts)


def test_vectors_come_over_the_pipe_bit_for_bit(owner):
    assert owner.vectors(TEXTS).matrix.tobytes() == here(TEXTS).tobytes()
    assert owner.device == "cpu"
    assert owner.pid != os.getpid()


def test_a_query_comes_over_the_pipe_bit_for_bit(owner):
    assert owner.query("text number 7").tobytes() == here(["text number 7"]).tobytes()


def test_texts_with_lone_surrogates_and_nulls_pass_the_pipe(owner):
    strange = ["lone \ud800 surrogate", "a\x00b", "\U0001f9ca"]
    assert owner.vectors(strange).matrix.tobytes() == here(strange).tobytes()


def test_a_query_over_the_limit_keeps_its_class_across_the_pipe(owner):
    with pytest.raises(ConfigurationError, match="the query has"):
        owner.query("x" * 10_000)


def test_a_killed_process_is_replaced_without_loss(owner):
    owner.vectors(TEXTS[:3])
    before = owner.pid
    os.kill(before, signal.SIGKILL)
    assert owner.vectors(TEXTS).matrix.tobytes() == here(TEXTS).tobytes()
    assert owner.pid not in (None, before)


def test_a_process_that_dies_over_every_batch_is_unavailable(owner, monkeypatch):
    monkeypatch.setenv(VARIABLE, "embed.batch:1")
    with pytest.raises(EmbedderUnavailable, match=r"died .* twice") as caught:
        owner.vectors(TEXTS)
    assert caught.value.delay_seconds
    assert owner.pid is None
    monkeypatch.delenv(VARIABLE)
    assert len(owner.vectors(TEXTS).matrix) == len(TEXTS)


def test_batches_done_before_a_death_are_not_done_again(tmp_path, monkeypatch):
    cache = VectorCache(tmp_path / "vectors.sqlite")
    monkeypatch.setenv(VARIABLE, "embed.batch:3")
    owner = Embedding(name="hash", options={"dimension": 32}, cache=cache, batch_tokens=256)
    told = []
    assert owner.vectors(TEXTS, progress=told.append).matrix.tobytes() == here(TEXTS).tobytes()
    assert sum(told) == len(TEXTS)
    owner.close()
    cache.close()


def test_closing_ends_the_process(owner):
    owner.query("x")
    pid = owner.pid
    owner.close()
    assert gone(pid)


def test_an_idle_process_is_ended(owner):
    now = [0.0]
    idle = Embedding(name="hash", options={}, cache=None, idle_seconds=5, clock=lambda: now[0])
    idle.query("x")
    pid = idle.pid
    assert idle.unload_if_idle(6)
    assert gone(pid)
    idle.close()


def test_closing_over_a_hanging_batch_kills_the_process(owner):
    owner.query("x")
    os.kill(owner.pid, signal.SIGSTOP)
    raised = []

    def call():
        try:
            owner.vectors(TEXTS)
        except EmbedderUnavailable as error:
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    pause = threading.Event()
    while not owner._owner._turns._taken:
        pause.wait(0.001)
    owner.close(grace_seconds=0.1)
    thread.join(20)
    assert len(raised) == 1


def test_an_unknown_name_is_refused_at_once():
    with pytest.raises(ConfigurationError, match="no embedder is called 'hsh'"):
        Embedding(name="hsh", options={}, cache=None)


def test_an_unknown_option_is_refused_with_the_nearest_one():
    with pytest.raises(ConfigurationError, match="no option 'dimensions'; did you mean 'dimension'"):
        Embedding(name="hash", options={"dimensions": 3}, cache=None)


def test_an_embedder_that_was_replaced_meanwhile_is_refused():
    with pytest.raises(ConfigurationError, match="was changed while this process ran"):
        ChildDevice("hash", {"dimension": 32}, Digest("0" * 64))


def test_what_the_process_lacks_is_said_by_its_own_error(tmp_path):
    lacking = Embedding(name="bge-small", options={"model_dir": str(tmp_path)}, cache=None)
    with pytest.raises(AdapterUnavailable, match=r"tokenizer.json cannot be read .* pip install"):
        lacking.query("x")
    assert lacking.pid is None


def test_an_idle_embedding_has_no_process(owner):
    assert owner.count(["four characters a token"]) == [8]
    assert owner.pid is None


def test_the_answerer_says_that_memory_is_short():
    answer = answerer(CountingEmbedder(memory_tokens=5))
    reply, blob = answer({"do": "embed", "texts": ["one two three four"]}, b"")
    assert "1 texts" in reply["short_of_memory"]
    assert blob == b""


def test_a_query_can_be_embedded_without_a_process():
    vector = embed_query_here("hash", {"dimension": 32}, "text number 7")
    assert vector.shape == (32,)
    assert vector.dtype == np.float32
    assert vector.tobytes() == here(["text number 7"]).tobytes()
