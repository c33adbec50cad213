"""Shows an answer: one JSON document, tables on a terminal, or plain lines."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from ingestd.cli.report import Answer, Document, Line, Part, Table, Tone
from ingestd.model.source import printable

SCHEMA = 1
_STYLES: dict[Tone, str] = {"plain": "", "strong": "bold", "faint": "dim", "good": "green", "bad": "bold red"}


def show(answer: Answer, *, as_json: bool, stream: TextIO) -> None:
    """Write the answer to the stream: to people, unless a program asked for JSON."""
    if as_json:
        stream.write(json_text(answer.document) + "\n")
    elif stream.isatty():
        _show_on_terminal(answer.report(answer.document), stream)
    else:
        stream.writelines(line + "\n" for line in plain_lines(answer.report(answer.document)))
    stream.flush()


def json_text(document: Document) -> str:
    """The document on one line, in ASCII, with ``"schema"`` first."""
    text = json.dumps({"schema": SCHEMA, **document}, allow_nan=False)
    return text.replace("\x7f", "\\u007f")


def plain_lines(parts: Iterable[Part]) -> Iterator[str]:
    """Lines without colours, columns set under each other, nothing cut off."""
    for part in parts:
        match part:
            case Line():
                yield printable(part.text)
            case Table():
                yield from _plain_table(part)


def write_json_line(stream: TextIO, value: dict[str, Any]) -> None:
    """One JSON object of a stream of them."""
    stream.write(json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f") + "\n")


def discard(stream: TextIO) -> None:
    """Let the interpreter's last flush go nowhere, after the reader of the stream has left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _plain_table(table: Table) -> Iterator[str]:
    if table.title:
        yield printable(table.title)
    rows = [table.columns, *([cell_text(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.columns))]
    numeric = _numeric_columns(table)
    for row in rows:
        cells = [_padded(cell, width, right=right) for cell, width, right in zip(row, widths, numeric, strict=True)]
        yield "  ".join(cells).rstrip()


def _show_on_terminal(parts: Iterable[Part], stream: TextIO) -> None:
    from rich.console import Console

    console = Console(file=stream, highlight=False, soft_wrap=False)
    for part in parts:
        match part:
            case Line():
                console.print(printable(part.text), style=_STYLES[part.tone] or None, markup=False, soft_wrap=True)
            case Table():
                console.print(_rich_table(part))


def _rich_table(table: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=Text(printable(table.title)) if table.title else None, box=box.SIMPLE_HEAD)
    for name, numeric in zip(table.columns, _numeric_columns(table), strict=True):
        shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(cell_text(cell)) for cell in row))
    return shown


def cell_text(cell: str | float | None) -> str:
    """A cell as it is shown."""
    match cell:
        case None:
            return "-"
        case float():
            return f"{cell:.4g}"
        case _:
            return printable(str(cell))


def _numeric_columns(table: Table) -> Sequence[bool]:
    return [
        any(isinstance(row[column], int | float) for row in table.rows)
        and all(row[column] is None or isinstance(row[column], int | float) for row in table.rows)
        for column in range(len(table.columns))
    ]


def _padded(text: str, width: int, *, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)
