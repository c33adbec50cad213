from pathlib import Path

import pytest

from ingestd.convert.options import ConvertOptions
from ingestd.errors import ConfigurationError
from ingestd.options import chunk_options, convert_options, embedder_options, store_options
from ingestd.settings import (
    ChunkerSettings,
    EmbedderSettings,
    RootConverterSettings,
    RootEmbedderSettings,
    StoreSettings,
)


def test_the_configurations_defaults_are_the_conversions_own() -> None:
    assert convert_options(RootConverterSettings()) == ConvertOptions()
    assert convert_options(RootConverterSettings(max_text_bytes=9)).text_bytes == 9


def test_only_what_was_set_reaches_the_embedder() -> None:
    assert embedder_options(RootEmbedderSettings(), EmbedderSettings()) == {}
    space = RootEmbedderSettings(name="hash", dimension=8)
    assert embedder_options(space, EmbedderSettings(threads=2, device="cpu")) == {
        "dimension": 8,
        "device": "cpu",
        "threads": 2,
    }


def test_each_store_gets_its_own_options(tmp_path: Path) -> None:
    assert store_options(StoreSettings(), tmp_path) == {"directory": str(tmp_path), "min_free_bytes": 268435456}
    server = StoreSettings(kind="server", url="http://h", api_key_file=tmp_path / "key", timeout_seconds=3)
    assert store_options(server, tmp_path) == {
        "timeout_seconds": 3,
        "prefer_grpc": False,
        "url": "http://h",
        "api_key_file": str(tmp_path / "key"),
    }


def test_sizes_that_contradict_the_chunkers_own_are_refused() -> None:
    assert chunk_options(ChunkerSettings(max_size=100)).max_size == 100
    with pytest.raises(ConfigurationError, match=r"\[chunker\]: min_size"):
        chunk_options(ChunkerSettings(min_size=239))
