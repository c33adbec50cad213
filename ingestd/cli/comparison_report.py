"""A comparison of converters for people: a row for each figure, a column for each converter."""

from collections.abc import Iterator
from typing import Any

from ingestd.cli.report import Document, Line, Part, Table, counted

_MIB = 1024 * 1024
_MOST_HEADINGS = 12
_MOST_PAGES = 20
_MOST_TABLES = 20
_HEADING_CHARS = 44
_DIFFERS = 0.1
"""Pages are named where the shortest text is shorter than the longest by this share."""

Entry = dict[str, Any]
Cell = str | int | float | None


def report(document: Document) -> Iterator[Part]:
    """The figures, the first headings, the tables, then the pages on which the texts differ."""
    entries: list[Entry] = document["converters"]
    yield Line(f"{document['file']}: {document['mime']}, {counted(document['size'], 'byte')}", "strong")
    if document["pdfium"] is not None:
        seen = document["pdfium"]
        yield Line(f"PDFium sees {counted(seen['characters'], 'character')} on {counted(seen['pages'], 'page')}")
    yield _figures(entries)
    for entry in entries:
        if entry["error"] is not None:
            yield Line(f"{entry['converter']}: {entry['error']}: {entry['reason']}", "bad")
    made = [entry for entry in entries if entry["error"] is None]
    if any(entry["headings"] for entry in made):
        yield _side_by_side("headings", made, [_headings(entry) for entry in made])
    if any(entry["tables"] for entry in made):
        yield _side_by_side("tables, rows x columns", made, [_tables(entry) for entry in made])
    if len(made) > 1:
        yield from _pages(made)
    for one in document["unavailable"]:
        yield Line(f"not installed: {one['converter']} ({one['reason']})", "faint")


def _figures(entries: list[Entry]) -> Table:
    kinds = sorted({kind for entry in entries for kind in entry.get("blocks", ())})
    rows: list[tuple[Cell, ...]] = [
        ("outcome", *("document" if entry["error"] is None else str(entry["error"]) for entry in entries)),
        (_coverage_of(entries), *(_coverage(entry) for entry in entries)),
        ("characters", *(_at(entry, "coverage", "characters") for entry in entries)),
        ("pages with text", *(_pages_with_text(entry) for entry in entries)),
        ("Markdown", *(_at(entry, "markdown_characters") for entry in entries)),
        *((kind, *(_at(entry, "blocks", kind) for entry in entries)) for kind in kinds),
        ("seconds to start", *(_seconds(entry["start_seconds"]) for entry in entries)),
        ("seconds", *(_seconds(entry["seconds"]) for entry in entries)),
        ("CPU seconds", *(_seconds(entry["cpu_seconds"]) for entry in entries)),
        ("peak memory", *(_mib(entry["peak_bytes"]) for entry in entries)),
    ]
    return Table(columns=("", *(str(entry["converter"]) for entry in entries)), rows=tuple(rows))


def _at(entry: Entry, *keys: str) -> str | None:
    value: Any = entry
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  JSON
    return None if value is None else str(value)  # pyright: ignore[reportUnknownArgumentType]  JSON


def _coverage_of(entries: list[Entry]) -> str:
    by_pdfium = any(entry["error"] is None and entry["coverage"]["against"] == "pdfium" for entry in entries)
    return "coverage of PDFium's" if by_pdfium else "coverage of the most"


def _coverage(entry: Entry) -> str | None:
    share = None if entry["error"] is not None else entry["coverage"]["share"]
    return None if share is None else f"{share:.1%}"


def _pages_with_text(entry: Entry) -> str | None:
    if entry["error"] is not None:
        return None
    coverage = entry["coverage"]
    of = coverage["of_pages"] if coverage["of_pages"] is not None else entry["pages"]
    return f"{coverage['pages']} of {of}" if of is not None else None


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _mib(value: int | None) -> str | None:
    return None if value is None else f"{value / _MIB:.0f} MiB"


def _headings(entry: Entry) -> list[str]:
    texts: list[str] = []
    for heading in entry["headings"][:_MOST_HEADINGS]:
        words = " ".join(heading["text"].split())
        short = words if len(words) <= _HEADING_CHARS else words[: _HEADING_CHARS - 1] + "…"
        texts.append(f"{'#' * (heading['level'] or 1)} {short}")
    return [*texts, *_rest(len(entry["headings"]) - _MOST_HEADINGS)]


def _tables(entry: Entry) -> list[str]:
    texts = [
        f"{table['rows']} x {table['columns']}" + (f", page {table['page']}" if table["page"] else "")
        for table in entry["tables"][:_MOST_TABLES]
    ]
    return [*texts, *_rest(len(entry["tables"]) - _MOST_TABLES)]


def _rest(count: int) -> list[str]:
    return [f"… {count} more"] if count > 0 else []


def _side_by_side(title: str, entries: list[Entry], columns: list[list[str]]) -> Table:
    height = max(len(column) for column in columns)
    padded = [[*column, *[""] * (height - len(column))] for column in columns]
    return Table(
        title=title,
        columns=tuple(str(entry["converter"]) for entry in entries),
        rows=tuple(zip(*padded, strict=True)),
    )


def _pages(entries: list[Entry]) -> Iterator[Part]:
    """Pages of which one converter has markedly less text than another."""
    by_page: list[dict[str, int]] = [entry["characters_by_page"] for entry in entries]
    rows: list[tuple[Cell, ...]] = []
    for page in sorted({int(page) for counts in by_page for page in counts}):
        row = [counts.get(str(page), 0) for counts in by_page]
        if min(row) < (1 - _DIFFERS) * max(row):
            rows.append((page, *row))
    if rows:
        names = (str(entry["converter"]) for entry in entries)
        yield Table(title="characters on pages that differ", columns=("page", *names), rows=tuple(rows[:_MOST_PAGES]))
    if len(rows) > _MOST_PAGES:
        yield Line(f"… and on {counted(len(rows) - _MOST_PAGES, 'more page')}", "faint")
