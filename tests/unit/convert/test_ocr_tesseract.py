"""The tesseract program, by what it says; the program itself where it is installed."""

import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

from ingestd.errors import AdapterUnavailable, ConversionCrashed
from ingestd_adapters.ocr_tesseract import tesseract
from tests.unit.convert.conftest import PdfPage, prose
from tests.unit.convert.scans import WORDS, drawn, error_rate, turned

PROGRAM = """#!/bin/sh
case "$*" in
--list-langs) echo 'List of available languages in "{folder}" (2):' ;;
--version) echo 'tesseract 5.3.0' ;;
*osd*) cat > /dev/null; echo 'Rotate: 90' ;;
*tsv*)
    head -c 11 > "{folder}/head"; cat > /dev/null
    printf 'level\\tpage_num\\tblock_num\\tpar_num\\tline_num\\tword_num\\tleft\\ttop\\twidth\\theight\\tconf\\ttext\\n'
    printf '4\\t1\\t1\\t1\\t1\\t0\\t10\\t20\\t90\\t12\\t-1\\t\\n'
    printf '5\\t1\\t1\\t1\\t1\\t1\\t10\\t20\\t40\\t12\\t90\\tTwo\\n'
    printf '5\\t1\\t1\\t1\\t1\\t2\\t60\\t21\\t40\\t12\\t80\\twords\\n'
    printf '5\\t1\\t1\\t1\\t2\\t1\\t10\\t50\\t40\\t12\\t95\\tNext\\n' ;;
*) exit 1 ;;
esac
"""
WHITE = np.full((30, 40, 3), 255, dtype=np.uint8)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that answers as tesseract does, first on the path; the folder of its data."""
    data = tmp_path / "tessdata"
    data.mkdir()
    for name in ("eng", "osd"):
        (data / f"{name}.traineddata").write_bytes(name.encode())
    file = tmp_path / "tesseract"
    file.write_text(PROGRAM.format(folder=data))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return data


@pytest.mark.usefixtures("program")
def test_words_are_joined_to_lines_on_the_turned_picture(program: Path) -> None:
    engine = tesseract(())
    reading = engine.read(WHITE)
    assert reading.turned == 90
    assert [(line.text, round(line.confidence, 2)) for line in reading.lines] == [("Two words", 0.85), ("Next", 0.95)]
    assert reading.lines[0].corners == ((10, 20), (100, 20), (100, 33), (10, 33))
    assert (program / "head").read_bytes() == b"P6\n30 40\n25"
    assert dict(engine.versions()) == {"tesseract": "5.3.0"}


def test_a_language_without_data_is_named(program: Path) -> None:
    with pytest.raises(AdapterUnavailable, match=r"holds no data of chi_sim for tesseract.*tesseract-ocr-chi-sim"):
        tesseract(("eng", "chi_sim"))


def test_other_data_is_another_identity(program: Path) -> None:
    before = tesseract(())
    (program / "deu.traineddata").write_bytes(b"deu")
    assert tesseract(("eng", "deu")).identity != before.identity
    assert list(before.identity["weights_sha256"]) == ["eng", "osd"]


def test_a_program_that_fails_is_no_empty_page(program: Path) -> None:
    engine = tesseract(())
    file = program.parent / "tesseract"
    file.write_text("#!/bin/sh\ncat > /dev/null\necho broken >&2\nexit 3\n")
    with pytest.raises(ConversionCrashed, match=r"exit status 3\): broken"):
        engine.read(WHITE)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_the_program_reads_a_scan_that_lies_on_its_side() -> None:
    picture = turned(drawn(PdfPage(prose(60, f"{WORDS} {WORDS}", columns=60)), height=220), 90)
    reading = tesseract(()).read(picture)
    assert reading.turned == 270
    assert error_rate(" ".join(line.text for line in reading.lines), f"{WORDS} {WORDS}") <= 0.05
