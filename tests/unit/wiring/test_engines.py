"""Engines from settings."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestd.errors import ConfigurationError
from ingestd.settings import (
    ChunkerSettings,
    EmbedderSettings,
    RootConverterSettings,
    RootEmbedderSettings,
    RootSettings,
    Settings,
)
from ingestd.wiring import engines
from ingestd.wiring.engines import Wiring, chunk_options, convert_options, embedder_configuration
from ingestd.wiring.segmenters import segmenter
from ingestd.wiring.stores import store

SETTINGS = Settings(embedder=EmbedderSettings(name="hash", dimension=16))


def root(name: str, **options: object) -> RootSettings:
    return RootSettings(
        name=name,
        path=Path("/nowhere"),
        embedder=RootEmbedderSettings(name="hash", dimension=16),
        **options,  # type: ignore[arg-type]  # any of its keys
    )


@pytest.fixture
def wiring(tmp_path: Path) -> Iterator[Wiring]:
    made = Wiring(
        SETTINGS,
        conversions=tmp_path / "conversions",
        vectors=tmp_path / "cache" / "vectors.sqlite",
        pinned=lambda _fingerprint, _digest: False,
    )
    yield made
    made.close()


def test_roots_of_the_same_settings_share_their_engines(wiring: Wiring) -> None:
    one, other = wiring.engines(root("one")), wiring.engines(root("other"))
    assert one.embedding is other.embedding
    assert one.conversions is other.conversions
    assert one.chunk_stage.digest == other.chunk_stage.digest
    assert len(wiring.embeddings) == 1


def test_each_option_that_changes_the_chunks_changes_the_stage(wiring: Wiring) -> None:
    made = {
        wiring.engines(root(f"r{number}", chunker=chunker)).chunk_stage.digest
        for number, chunker in enumerate(
            (
                ChunkerSettings(),
                ChunkerSettings(name="grain-growth"),
                ChunkerSettings(max_size=100),
                ChunkerSettings(unit="chars"),
                ChunkerSettings(segmenter="punctuation"),
                ChunkerSettings(profile="compat"),
                ChunkerSettings(profile="compat", max_size=900),
                ChunkerSettings(profile="compat", segmenter="punctuation"),
                ChunkerSettings(profile="compat", name="grain-growth"),
            )
        )
    }
    assert len(made) == 9


def test_the_embedder_is_part_of_the_chunking_where_it_says_where_to_cut(wiring: Wiring) -> None:
    compat = ChunkerSettings(profile="compat")
    small = wiring.engines(root("one", chunker=compat)).chunk_stage
    other = RootEmbedderSettings(name="hash", dimension=32)
    large = wiring.engines(RootSettings(name="two", path=Path("/nowhere"), embedder=other, chunker=compat)).chunk_stage
    assert small.digest != large.digest


def test_a_setting_that_the_package_does_not_know_is_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigurationError, match=r"\[chunker\]: target_size is unknown to structure-first"):
        chunk_options(ChunkerSettings(profile="compat", target_size=90))


def test_another_vector_space_is_another_embedder(wiring: Wiring) -> None:
    small = wiring.engines(root("one")).embedding
    large = wiring.engines(
        RootSettings(name="two", path=Path("/nowhere"), embedder=RootEmbedderSettings(name="hash", dimension=32))
    ).embedding
    assert (small.dimension, large.dimension) == (16, 32)
    assert small.stage.digest != large.stage.digest


def test_the_configuration_kept_with_a_collection_makes_its_embedder_again(wiring: Wiring) -> None:
    made = wiring.engines(root("one"))
    assert json.loads(made.embedder) == {"name": "hash", "options": {"dimension": 16}}
    assert wiring.embedding(made.embedder) is made.embedding


def test_a_device_left_to_the_engine_is_no_part_of_the_configuration() -> None:
    plain = embedder_configuration(Settings(), RootEmbedderSettings())
    assert json.loads(plain) == {"name": "bge-small", "options": {}}
    chosen = Settings(embedder=EmbedderSettings(device="cuda:1", threads=3))
    options = json.loads(embedder_configuration(chosen, RootEmbedderSettings(model_dir=Path("/models"))))["options"]
    assert options == {"device": "cuda:1", "threads": 3, "model_dir": "/models"}


def test_limits_are_handed_on_and_change_no_identity(wiring: Wiring) -> None:
    options = convert_options(RootConverterSettings(max_pages=7, max_text_bytes=100, timeout_seconds=5.0))
    assert (options.max_pages, options.text_bytes, options.timeout_seconds) == (7, 100, 5.0)
    slow = wiring.conversions(RootConverterSettings(timeout_seconds=500.0))
    quick = wiring.conversions(RootConverterSettings(timeout_seconds=5.0))
    assert slow.stage_for("text/markdown").digest == quick.stage_for("text/markdown").digest


def test_sizes_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"\[chunker\].*min_size"):
        chunk_options(ChunkerSettings(min_size=239))


def test_names_that_nobody_registered_are_refused(wiring: Wiring) -> None:
    with pytest.raises(ConfigurationError, match="no segmenter is called 'x'; installed: "):
        segmenter("x")
    with pytest.raises(ConfigurationError, match="no embedder is called 'x'; installed: "):
        wiring.embedding('{"name": "x", "options": {}}')


def test_without_a_vector_cache_no_file_is_made(tmp_path: Path) -> None:
    settings = Settings(embedder=EmbedderSettings(name="hash", cache_bytes=0))
    made = Wiring(settings, conversions=tmp_path / "c", vectors=tmp_path / "v.sqlite", pinned=lambda *_: False)
    made.engines(root("one"))
    made.close()
    assert not (tmp_path / "v.sqlite").exists()


def test_a_store_is_made_of_the_kind_that_the_settings_name(tmp_path: Path) -> None:
    made = store(SETTINGS, tmp_path / "store", in_process=True)
    assert made.generations() == ()
    made.close()


def test_the_clock_is_the_machines() -> None:
    clock = engines.clock()
    assert clock.wall_ns() > 10**18
    assert 0 <= clock.random() < 1
    assert clock.monotonic() <= clock.monotonic()
