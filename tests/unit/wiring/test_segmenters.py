"""Segmenters from settings."""

import dataclasses
import os
from pathlib import Path

import pytest

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd.settings import ChunkerSettings, EmbedderSettings, RootEmbedderSettings, RootSettings, Settings
from ingestd.wiring.engines import Wiring
from ingestd.wiring.segmenters import distinct, probe, probe_all, segmenter_of, signature
from tests.unit.adapters.tiny_sat import write_model


@pytest.fixture
def sat(tmp_path: Path) -> ChunkerSettings:
    return ChunkerSettings(segmenter="sat-3l", segmenter_model_dir=write_model(tmp_path / "sat"))


def settings(*chunkers: ChunkerSettings) -> Settings:
    return Settings(roots=tuple(root(f"r{number}", chunker) for number, chunker in enumerate(chunkers)))


def root(name: str, chunker: ChunkerSettings) -> RootSettings:
    embedder = RootEmbedderSettings(name="hash", dimension=16)
    return RootSettings(name=name, path=Path("/nowhere"), embedder=embedder, chunker=chunker)


def wiring(tmp_path: Path) -> Wiring:
    return Wiring(
        Settings(embedder=EmbedderSettings(name="hash", dimension=16)),
        conversions=tmp_path / "conversions",
        vectors=tmp_path / "vectors.sqlite",
        pinned=lambda _fingerprint, _digest: False,
    )


def test_chunkers_of_the_same_options_share_a_model(sat: ChunkerSettings) -> None:
    assert segmenter_of(sat) is segmenter_of(dataclasses.replace(sat, max_size=100))
    assert segmenter_of(sat) is not segmenter_of(dataclasses.replace(sat, segmenter_threshold=0.5))


@pytest.mark.parametrize("name", ["punctuation", "sentencex"])
def test_segmenters_without_a_model_are_proven_too(name: str) -> None:
    assert probe(segmenter_of(ChunkerSettings(segmenter=name))).startswith(name)


def test_a_segmenter_with_a_model_is_loaded_and_tells_its_device(sat: ChunkerSettings) -> None:
    assert probe(segmenter_of(sat)).endswith("+threshold.0.25, on cpu")


def test_the_device_is_no_part_of_the_identity_and_the_threshold_is(sat: ChunkerSettings) -> None:
    name = segmenter_of(sat).name
    assert segmenter_of(dataclasses.replace(sat, segmenter_device="cpu")).name == name
    assert segmenter_of(dataclasses.replace(sat, segmenter_threshold=0.5)).name == name.replace("0.25", "0.5")


def test_options_that_a_segmenter_does_not_have_are_refused(tmp_path: Path) -> None:
    for key, value in {"model_dir": tmp_path, "device": "cpu", "threshold": 0.5, "revision": "0" * 40}.items():
        chunker = dataclasses.replace(ChunkerSettings(), **{f"segmenter_{key}": value})  # type: ignore[arg-type]  # any of its keys
        with pytest.raises(ConfigurationError, match=f"'sentencex' has no {key}: remove chunker.segmenter_{key}"):
            segmenter_of(chunker)


def test_a_segmenter_that_loses_text_is_refused() -> None:
    class Losing:
        name = "losing/1"

        def split(self, text: str) -> list[str]:
            return text.split(".")

    with pytest.raises(ConfigurationError, match="losing/1 loses text"):
        probe(Losing())


def test_every_segmenter_of_the_roots_is_proven_at_the_start(sat: ChunkerSettings, tmp_path: Path) -> None:
    absent = dataclasses.replace(sat, segmenter_model_dir=tmp_path / "absent")
    probe_all(settings(sat, ChunkerSettings()))
    with pytest.raises(AdapterUnavailable, match=f"{tmp_path}/absent does not hold model_optimized.onnx"):
        probe_all(settings(ChunkerSettings(), absent))


def test_each_segmenter_is_looked_at_once(sat: ChunkerSettings) -> None:
    chunkers = (sat, ChunkerSettings(), dataclasses.replace(sat, max_size=100), ChunkerSettings(min_size=20))
    assert [one.segmenter for one in distinct(settings(*chunkers))] == ["sat-3l", "sentencex"]
    assert [one.segmenter for one in distinct(Settings())] == ["sentencex"]


def test_engines_are_made_with_a_segmenter_that_works_or_not_at_all(sat: ChunkerSettings, tmp_path: Path) -> None:
    made = wiring(tmp_path)
    stages = {
        made.engines(root(f"r{number}", chunker)).chunk_stage.digest
        for number, chunker in enumerate(
            (
                sat,
                dataclasses.replace(sat, segmenter_device="cpu"),
                dataclasses.replace(sat, segmenter_threshold=0.9),
                dataclasses.replace(sat, segmenter_model_dir=write_model(tmp_path / "other", seed=8)),
                ChunkerSettings(),
            )
        )
    }
    assert len(stages) == 4
    assert sat.segmenter_model_dir is not None
    (tmp_path / "broken").mkdir()
    with pytest.raises(AdapterUnavailable):
        made.engines(root("broken", dataclasses.replace(sat, segmenter_model_dir=tmp_path / "broken")))
    made.close()


def test_another_model_in_the_folder_is_noticed_without_reading_it(sat: ChunkerSettings, tmp_path: Path) -> None:
    before = signature(sat)
    assert [name for name, _, _ in before] == ["model_optimized.onnx", "tokenizer.json"]
    assert sat.segmenter_model_dir is not None
    os.utime(sat.segmenter_model_dir / "tokenizer.json", ns=(0, 0))
    assert signature(sat) != before
    assert signature(ChunkerSettings()) == ()
    assert signature(ChunkerSettings(segmenter_model_dir=tmp_path / "absent")) == ()
