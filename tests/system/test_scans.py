"""Scans wait while nothing reads them, and are found once something does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ingestd.settings import ConverterSettings
from tests.system.conftest import Program
from tests.unit.convert.conftest import Pdf, PdfPage, prose
from tests.unit.convert.scans import WORDS, Pixels, drawn, error_rate, scan, together

pytest.importorskip("rapidocr")

Write = Callable[..., Path]
BORN = "A page that was never on paper, and lies before one that was."


def label() -> Pixels:
    return drawn(PdfPage([(40, 60, 20, "Lamp oil, two barrels")]), width=300, height=100)


def test_a_scan_waits_for_ocr_and_is_found_once_it_is_on(program: Program, write: Write) -> None:
    write("scan.pdf", data=scan(drawn(PdfPage(prose(60, WORDS, columns=60)), height=140)))
    write("born.pdf", data=Pdf([PdfPage(prose(60, "A page that was never on paper."))]).render())
    write("mixed.pdf", data=together(Pdf([PdfPage(prose(60, BORN))]).render(), scan(label())))
    without = program.with_settings(converter=ConverterSettings(ocr="off"))
    first = without.sync()
    (failed,) = first["failed"]
    assert (failed["path"], failed["error"]) == ("scan.pdf", "NeedsOcr")
    assert first["converted"] == 2
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

    # What OCR has no say in is chunked anew at the most; what lost pages without it has them now.
    assert report["stale"] == 2
    again = on.reindex()
    assert (again["converted"], again["failed"]) == (1, [])
    assert any("Lamp oil" in body for body in on.texts()["mixed.pdf"])
    shown = on.read("show", path="mixed.pdf")
    assert (shown["provenance"]["ocr"], shown["provenance"]["pages_by_ocr"]) == ("rapidocr", "2")
    assert on.read("verify")["ok"]
    assert on.read("status")["quarantine"] == []
    back = without.sync()
    assert back["failed"] == []
