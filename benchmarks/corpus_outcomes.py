"""Every file of a corpus through every converter that takes it: a document, or a typed reason, within its limits.

    benchmarks/corpus_outcomes.py [--data FOLDER] [--ocr auto] [--seconds 60] [--output FILE.md] [--only NAME …]

The exit status is 1 when a file ends otherwise: with a process that died, an error without a type, or past its deadline.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ingestd.cli.figures import characters, figures
from ingestd.cli.trials import Subject, candidates, pdfium_characters, trial
from ingestd.convert import HEAD_BYTES, ConvertOptions, mime_of
from ingestd.convert.choice import refusal
from ingestd.errors import ConversionCrashed, IngestdError, PermanentError
from ingestd.model.document import Document
from ingestd.model.source import display

NOT_DOCUMENTS = frozenset({"README.md", "manifest.json"})
GRACE_SECONDS = 10.0
"""What a process past its deadline may take to be killed on a busy machine."""
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    file: str
    converter: str
    outcome: str
    """``document``, or the type of the error."""
    amiss: str = ""
    """Why this is neither a document nor a typed reason within the limits."""
    blocks: int | None = None
    characters: int | None = None
    pages: str = ""
    coverage: float | None = None
    seconds: float | None = None
    peak_bytes: int | None = None
    reason: str = ""


def main() -> int:
    given = _arguments()
    if not given.data.is_dir():
        print(f"{given.data} is not there: name the folder of the corpus with --data", file=sys.stderr)
        return 2
    options = replace(ConvertOptions(), ocr=given.ocr, timeout_seconds=given.seconds)
    files = sorted(path for path in given.data.rglob("*") if path.is_file() and path.name not in NOT_DOCUMENTS)
    began, rows = time.monotonic(), list[Row]()
    for path in files:
        for row in rows_of(path, str(path.relative_to(given.data)), options, given.only):
            rows.append(row)
            print(f"{row.file}: {row.converter or '-'}: {row.amiss or row.outcome}", file=sys.stderr, flush=True)
    text = "\n".join(table(rows, len(files), given.ocr, given.seconds, time.monotonic() - began)) + "\n"
    given.output.write_text(text, encoding="utf-8")
    amiss = [row for row in rows if row.amiss]
    for row in amiss:
        print(f"amiss: {row.file}: {row.converter}: {row.amiss}", file=sys.stderr)
    return 1 if amiss else 0


def _arguments() -> argparse.Namespace:
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=here.parents[1] / "shared" / "corpus", metavar="FOLDER")
    parser.add_argument("--ocr", default="auto", help="as converter.ocr; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=60.0, help="deadline of a file without pages")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these converters; default: all")
    parser.add_argument("--output", type=Path, default=here / "results" / "corpus_outcomes.md", metavar="FILE")
    return parser.parse_args()


def rows_of(path: Path, file: str, options: ConvertOptions, only: Sequence[str] | None) -> Iterator[Row]:
    """One row a converter; one without a converter where the file is refused before."""
    name = display(path.name.encode())
    try:
        with path.open("rb") as opened:
            mime = mime_of(path.name.encode(), opened.read(HEAD_BYTES))
    except PermanentError as error:
        yield Row(file=file, converter="", outcome=type(error).__name__, reason=str(error))
        return
    subject = Subject(path=path, name=name, mime=mime, size=path.stat().st_size)
    names = [one for one in candidates(mime, options).names if not only or one in only]
    if not names:
        refused = refusal(mime)
        yield Row(file=file, converter="", outcome=type(refused).__name__, reason=str(refused))
        return
    seen = pdfium_characters(subject, options)
    by_pdfium = None if isinstance(seen, IngestdError) else seen
    trials = [trial(subject, one, options) for one in names]
    documents = [one.outcome for one in trials if isinstance(one.outcome, Document)]
    largest = max((characters(document) for document in documents), default=0)
    for one in trials:
        yield row_of(file, figures(one, by_pdfium, largest), one.outcome, options, len(by_pdfium or ()))


def row_of(
    file: str, entry: dict[str, Any], outcome: Document | IngestdError, options: ConvertOptions, pages: int
) -> Row:
    measured = Row(
        file=file,
        converter=str(entry["converter"]),
        outcome="document" if isinstance(outcome, Document) else type(outcome).__name__,
        seconds=entry["seconds"],
        peak_bytes=entry["peak_bytes"],
    )
    # Three questions are asked of the process, each with the deadline; those of pages that are read by OCR are longer.
    limit = 3 * options.deadline_seconds(pages, pages if options.ocr != "off" else 0) + GRACE_SECONDS
    if (measured.seconds or 0.0) > limit:
        measured = replace(measured, amiss=f"took {measured.seconds:.0f} s, {limit:.0f} allowed")
    if isinstance(outcome, IngestdError):
        untyped = not isinstance(outcome, PermanentError) or isinstance(outcome, ConversionCrashed)
        amiss = f"{type(outcome).__name__}: {outcome}" if untyped else measured.amiss
        return replace(measured, reason=str(outcome), amiss=amiss)
    coverage = entry["coverage"]
    of = coverage["of_pages"] if coverage["of_pages"] is not None else outcome.page_count
    return replace(
        measured,
        blocks=len(outcome.blocks),
        characters=coverage["characters"],
        pages=f"{coverage['pages']} of {of}" if of is not None else "",
        coverage=coverage["share"],
    )


def table(rows: Sequence[Row], files: int, ocr: str, seconds: float, took: float) -> Iterator[str]:
    yield "# What each converter makes of the corpus"
    yield ""
    amiss = sum(1 for row in rows if row.amiss)
    one_way = len({row.file for row in rows if row.outcome == "document"})
    yield (
        f"{files} files, {len(rows)} conversions in {took:.0f} s; OCR `{ocr}`, {seconds:g} s for a file and what its pages "
        f"add. {one_way} files become a document with at least one converter. Conversions that ended neither with a "
        f"document nor with a typed reason within their limits: {amiss}."
    )
    yield ""
    yield "Made by `benchmarks/corpus_outcomes.py`. Coverage is against the characters that PDFium sees, or, of files that"
    yield "are no PDF, against the largest document that a converter made, marks of tables left out; pages are those with text of those that have any."
    yield "Seconds are of one run on a machine that had other work, without the start of the process."
    yield ""
    yield from totals(rows)
    yield ""
    yield "| file | converter | outcome | blocks | characters | pages | coverage | seconds | peak MiB | reason |"
    yield "|---|---|---|---:|---:|---|---:|---:|---:|---|"
    yield from map(line, rows)


def totals(rows: Sequence[Row]) -> Iterator[str]:
    yield "| converter | files | documents | reasons | median coverage | seconds | slowest | largest peak MiB |"
    yield "|---|---:|---:|---|---:|---:|---:|---:|"
    for converter in sorted({row.converter for row in rows}):
        own = [row for row in rows if row.converter == converter]
        reasons = Counter(row.outcome for row in own if row.outcome != "document")
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(reasons.items()))
        shares = sorted(row.coverage for row in own if row.coverage is not None)
        spent = [row.seconds or 0.0 for row in own]
        yield cells(
            converter or "none, refused by type",
            len(own),
            len(own) - reasons.total(),
            said,
            f"{shares[len(shares) // 2]:.1%}" if shares else "",
            f"{sum(spent):.1f}",
            f"{max(spent):.2f}",
            f"{max(row.peak_bytes or 0 for row in own) / MIB:.0f}",
        )


def line(row: Row) -> str:
    return cells(
        row.file,
        row.converter,
        f"**{row.outcome}**" if row.amiss else row.outcome,
        row.blocks,
        row.characters,
        row.pages,
        None if row.coverage is None else f"{row.coverage:.1%}",
        None if row.seconds is None else f"{row.seconds:.2f}",
        None if row.peak_bytes is None else f"{row.peak_bytes / MIB:.0f}",
        row.reason,
    )


def cells(*values: object) -> str:
    return f"| {' | '.join(_cell(value) for value in values)} |"


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).replace("|", "\\|").split())


if __name__ == "__main__":
    sys.exit(main())
