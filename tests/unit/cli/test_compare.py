"""What ``ingestd compare`` says of each converter."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.cli.comparison_report import report
from ingestd.cli.figures import figures
from ingestd.cli.output import plain_lines
from ingestd.cli.trials import Subject, Trial, candidates, pdfium_characters, trial
from ingestd.convert import ConvertOptions
from ingestd.convert.types import MARKDOWN, PDF
from ingestd.errors import ConversionTimeout, CorruptFile, FileEmpty
from ingestd.model.document import Block, BlockType, Document

from .conftest import Run

TEXT = "# Pumps\n\nA pump moves water.\n\n## Sizes\n\n| size | flow |\n|---|---|\n| 1 | 5 |\n| 2 | 9 |\n"


def pdf(*lines: str) -> bytes:
    """A PDF with a page for each line, its offsets right."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(lines)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(lines)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, line in enumerate(lines):
        content = f"BT /F1 12 Tf 72 700 Td ({line}) Tj ET"
        bodies += [
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * index} 0 R "
                "/Resources << /Font << /F1 3 0 R >> >> >>"
            ),
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    out, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(bodies) + 1
    ending = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n"
    )
    return out + ending.encode() + b"%%EOF\n"


def test_a_markdown_file_is_measured_and_the_exit_status_is_done(run: Run, home: Path) -> None:
    (home / "a.md").write_text(TEXT)
    status, out, _ = run("compare", "a.md", "--json")
    value = json.loads(out)
    (entry,) = value["converters"]
    assert (status, value["schema"], value["file"], value["mime"]) == (0, 1, "a.md", MARKDOWN)
    assert (entry["converter"], entry["error"]) == ("markdown", None)
    assert entry["blocks"] == {"paragraph": 1, "section": 1, "table": 1, "title": 1}
    assert entry["tables"] == [{"rows": 3, "columns": 2, "page": None}]
    assert [(heading["level"], heading["text"]) for heading in entry["headings"]] == [(1, "Pumps"), (2, "Sizes")]
    assert entry["coverage"]["share"] == 1.0
    assert entry["coverage"]["characters"] == len("PumpsApumpmoveswater.Sizessizeflow1529")
    assert entry["seconds"] > 0
    assert not list(home.glob(".local/state/**/*.sqlite*"))


def test_pdf_is_covered_against_what_pdfium_sees(run: Run, home: Path) -> None:
    (home / "a.pdf").write_bytes(pdf("A pump moves water", "It needs oil"))
    status, out, _ = run("compare", "a.pdf", "--json")
    value = json.loads(out)
    entry = next(one for one in value["converters"] if one["converter"] == "liteparse")
    assert status == 0
    assert value["pdfium"] == {"pages": 2, "characters": 25}
    assert entry["coverage"] == {
        "against": "pdfium", "characters": 25, "of_characters": 25, "share": 1.0, "pages": 2, "of_pages": 2,
    }  # fmt: skip
    assert entry["characters_by_page"] == {"1": 15, "2": 10}


def test_a_file_that_nothing_converts_is_amiss_with_the_type_of_the_error(run: Run, home: Path) -> None:
    (home / "a.pdf").write_bytes(b"%PDF-1.4\nnothing of the kind")
    status, out, _ = run("compare", "a.pdf")
    assert status == 1
    assert "liteparse: CorruptFile: a.pdf cannot be opened as PDF" in out


def test_a_type_without_converter_is_amiss_and_a_missing_file_is_usage(run: Run, home: Path) -> None:
    (home / "a.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    assert run("compare", "a.zip")[0] == 1
    assert run("compare", "absent.md")[0] == 2


def test_an_empty_file_reaches_no_converter(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.touch()
    made = trial(Subject(path=file, name="a.md", mime=MARKDOWN, size=0), "markdown", ConvertOptions())
    assert isinstance(made.outcome, FileEmpty)
    assert made.start_seconds is None


def test_a_converter_over_its_deadline_is_an_outcome_with_its_time(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(pdf("A pump moves water"))
    subject = Subject(path=file, name="a.pdf", mime=PDF, size=file.stat().st_size)
    options = replace(ConvertOptions(), timeout_seconds=1e-6, page_seconds=0)
    made = trial(subject, "liteparse", options)
    assert isinstance(made.outcome, ConversionTimeout)
    assert made.seconds is not None


def test_pdfium_that_cannot_open_a_file_is_no_yardstick(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"%PDF-1.4\nnothing of the kind")
    subject = Subject(path=file, name="a.pdf", mime=PDF, size=file.stat().st_size)
    assert isinstance(pdfium_characters(subject, ConvertOptions()), CorruptFile)


def test_only_converters_that_take_the_type_are_candidates() -> None:
    found = candidates(MARKDOWN, ConvertOptions())
    assert "markdown" in found.names
    assert not {"liteparse", "docling", "html"} & set(found.names)


@pytest.mark.parametrize("failed", [False, True])
def test_two_converters_stand_side_by_side(*, failed: bool) -> None:
    trials = [made("one", "First page", "Second page"), made("two", "First page", "Second")]
    if failed:
        trials[1] = replace(trials[1], outcome=CorruptFile("a.pdf is damaged"))
    entries = [figures(one, (9, 10), 19) for one in trials]
    text = "\n".join(
        plain_lines(
            report(
                {
                    "file": "a.pdf", "mime": PDF, "size": 1, "pdfium": {"pages": 2, "characters": 19},
                    "converters": entries, "unavailable": [{"converter": "three", "reason": "it is not there"}],
                }
            )
        )
    )  # fmt: skip
    assert "not installed: three (it is not there)" in text
    assert ("two: CorruptFile: a.pdf is damaged" in text) == failed
    assert ("characters on pages that differ" in text) != failed
    assert "coverage of PDFium's  100.0%" in text


def test_a_page_that_only_ocr_can_read_counts_among_the_pages_with_text() -> None:
    coverage = figures(made("one", "First page", "Second page"), (9, 0), 19)["coverage"]
    assert (coverage["pages"], coverage["of_pages"]) == (2, 2)


def made(name: str, first: str, second: str) -> Trial:
    markdown = f"{first}\n\n{second}"
    blocks = (
        Block(type=BlockType.PARAGRAPH, text=first, start=0, end=len(first), page=1),
        Block(type=BlockType.PARAGRAPH, text=second, start=len(first) + 2, end=len(markdown), page=2),
    )
    document = Document(title="a", markdown=markdown, blocks=blocks, page_count=2, converter=f"{name}/1")
    return Trial(converter=name, outcome=document, start_seconds=0.1, seconds=0.2, cpu_seconds=0.2, peak_bytes=1 << 20)
