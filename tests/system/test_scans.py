"""Scans wait while nothing reads them, and are found once something does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ingestd.settings import ConverterSettings
from tests.system.conftest import Program
from tests.unit.convert.conftest import Pdf, PdfPage, prose
from tests.unit.convert.scans import WORDS, drawn, error_rate, scan

pytest.importorskip("rapidocr")

Write = Callable[..., Path]


def test_a_scan_waits_for_ocr_and_is_found_once_it_is_on(program: Program, write: Write) -> None:
    write("scan.pdf", data=scan(drawn(PdfPage(prose(60, WORDS, columns=60)), height=140)))
    write("born.pdf", data=Pdf([PdfPage(prose(60, "A page that was never on paper."))]).render())
    without = program.with_settings(converter=ConverterSettings(ocr="off"))
    first = without.sync()
    (failed,) = first["failed"]
    assert (failed["path"], failed["error"]) == ("scan.pdf", "NeedsOcr")
    assert first["converted"] == 1
    (waiting,) = without.read("status")["quarantine"]
    assert 'set converter.ocr = "auto"' in waiting["reason"]

    on = program.with_settings(converter=ConverterSettings(ocr="on"))
    report = on.sync()
    assert (report["failed"], report["converted"]) == ([], 1)
    assert on.read("status")["quarantine"] == []
    (hit,) = (hit for hit in on.search("lighthouse keeper wind harbour") if hit["path"] == "scan.pdf")
    assert hit["page_start"] == 1
    assert error_rate(hit["body"], WORDS) <= 0.05
    assert on.read("verify")["ok"]

    # What OCR has no say in is chunked anew at the most.
    again = on.reindex()
    assert (again["converted"], again["embedded"]) == (0, 0)
    assert on.read("status")["quarantine"] == []
    back = without.sync()
    assert back["failed"] == []
