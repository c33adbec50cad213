"""The seed's SaT segmenters, on a tiny model."""

from pathlib import Path

import numpy as np
import pytest

from ingestd.chunk.compat.structure_first.errors import SegmenterError, ValidationError
from ingestd.chunk.compat.structure_first.protocols import BatchSentenceSegmenter
from ingestd.chunk.compat.structure_first.sat import SaTSegmenter, sat_3l, sat_9l, sat_12l, sat_default
from ingestd.chunk.compat.structure_first.sentences import split_sentences
from tests.unit.adapters.tiny_sat import write_model

TEXT = "The one sees the end. And the other: nothing! " * 30


def test_a_document_is_split_where_the_model_and_the_lengths_agree(tmp_path: Path) -> None:
    segmenter = sat_3l(model_dir=write_model(tmp_path), device="CPU")
    assert isinstance(segmenter, BatchSentenceSegmenter)
    sentences = split_sentences(TEXT, max_len=80, segmenter=segmenter)
    assert "".join(sentences) == TEXT
    assert max(map(len, sentences)) <= 80


def test_documents_together_give_what_each_gives_alone(tmp_path: Path) -> None:
    segmenter = SaTSegmenter(model_dir=write_model(tmp_path), ort_providers=["CPUExecutionProvider"])
    together = segmenter.predict_proba_batch([TEXT, "", "One. Two."])
    for text, found in zip([TEXT, "", "One. Two."], together, strict=True):
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, segmenter(text), atol=4e-3)
    assert segmenter.predict_proba_batch([]) == []
    assert segmenter.wants_batching() is False


def test_nothing_is_loaded_before_the_first_document_and_nothing_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for made, model in ((sat_3l(), "3l"), (sat_9l(), "9l"), (sat_12l(), "12l"), (sat_default(), "9l")):
        with pytest.raises(
            SegmenterError, match=f"models--segment-any-text--sat-{model}-sm does not hold revision main"
        ):
            made("One.")


def test_devices_are_checked_when_the_segmenter_is_made() -> None:
    with pytest.raises(ValidationError, match="pass either device= or ort_providers=, not both"):
        SaTSegmenter(device="cpu", ort_providers=["CPUExecutionProvider"])
    with pytest.raises(ValidationError, match="device 'mps'"):
        SaTSegmenter(device="mps")
