"""Which engine reads, and what is said where none can."""

import sys
from pathlib import Path

import pytest

from ingestd.convert import ConversionCache, Conversions, ConvertOptions
from ingestd.convert.choice import installed_engines
from ingestd.convert.types import MARKDOWN, PDF
from ingestd.errors import AdapterUnavailable, ConfigurationError, UnsupportedType
from ingestd_adapters import ocr_weights
from ingestd_adapters.liteparse_converter import liteparse
from ingestd_adapters.ocr_choice import NoOcr, chosen


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither package nor program."""
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    monkeypatch.setenv("PATH", "/nowhere")


def test_off_reads_nothing_and_says_how_to_change_it() -> None:
    assert chosen("off", ()) == NoOcr(why='OCR is off: set converter.ocr = "auto"')


@pytest.mark.usefixtures("no_engine")
def test_auto_goes_without_an_engine_and_names_the_extra() -> None:
    found = chosen("auto", ())
    assert isinstance(found, NoOcr)
    assert 'pip install "ingestd[ocr]"' in found.why


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("mode", ["on", "rapidocr", "tesseract"])
def test_an_engine_that_is_asked_for_and_missing_is_an_error(mode: str) -> None:
    with pytest.raises(AdapterUnavailable, match="tesseract-ocr" if mode == "tesseract" else "install.*ingestd.ocr"):
        chosen(mode, ())


@pytest.mark.usefixtures("no_engine")
def test_a_converter_without_its_engine_reads_no_pdf_and_says_why(tmp_path: Path) -> None:
    conversions = Conversions(
        options=ConvertOptions(ocr="rapidocr"), cache=ConversionCache(tmp_path, 1 << 20), workers=1
    )
    with pytest.raises(UnsupportedType, match=r'rapidocr is not installed.*pip install "ingestd\[ocr\]"'):
        conversions.stage_for(PDF)
    assert conversions.stage_for(MARKDOWN).name == "markdown"


def test_an_engine_that_comes_or_goes_is_seen_without_importing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rapidocr")
    assert "rapidocr" in installed_engines()
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    assert "rapidocr" not in installed_engines()


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="'fast' is none of auto, off, on, rapidocr, tesseract"):
        chosen("fast", ())


def test_letters_that_the_weights_do_not_know_are_refused() -> None:
    pytest.importorskip("rapidocr")
    with pytest.raises(ConfigurationError, match="names kor, rus, which RapidOCR"):
        chosen("rapidocr", ("eng", "rus", "kor"))


def test_ocr_is_part_of_the_identity_and_without_it_nothing_is() -> None:
    pytest.importorskip("rapidocr")
    plain, reads = liteparse({"max_pages": 9}).stage, liteparse({"max_pages": 9, "ocr": "rapidocr"}).stage
    assert dict(plain.options) == {}
    assert reads.digest != plain.digest
    assert reads.options["ocr"]["recognition_sha256"] == ocr_weights.SHA256[ocr_weights.RECOGNITION]
    assert reads.digest == liteparse({"max_pages": 5, "ocr": "auto", "max_ocr_pages": 7}).stage.digest


def test_weights_of_other_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rapidocr")
    monkeypatch.setitem(ocr_weights.SHA256, ocr_weights.DETECTION, "0" * 64)
    with pytest.raises(AdapterUnavailable, match=r"has SHA-256 090f04.*force-reinstall"):
        ocr_weights.verified(ocr_weights.DETECTION)
