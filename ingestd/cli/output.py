"""Shows an answer: one JSON document, tables on a terminal, or plain lines."""

import json
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from ingestd.cli.report import Answer, Document, Line, Part, Table, Tone
from ingestd.errors import OutOfSpace
from ingestd.model.source import printable

SCHEMA = 1
_UNFOLDED_CHARS = 20
"""Cells up to this width stay in one line on a terminal: a time, a type, a short name."""
_GAP_CHARS = 2
"""What rich puts between two columns."""
_STYLES: dict[Tone, str] = {"plain": "", "strong": "bold", "faint": "dim", "good": "green", "bad": "bold red"}


def show(answer: Answer, *, as_json: bool, stream: TextIO, fitted: bool = False) -> None:
    """Write the answer to the stream: to people, unless a program asked for JSON.

    Parameters
    ----------
    fitted
        Clear the terminal first and leave out what would scroll the beginning away.
    """
    if as_json:
        stream.write(json_text(answer.document) + "\n")
    elif stream.isatty():
        _show_on_terminal(answer.report(answer.document), stream, fitted=fitted)
    else:
        stream.writelines(line + "\n" for line in plain_lines(answer.report(answer.document)))
    stream.flush()


def json_text(document: Document) -> str:
    """The document on one line, in ASCII, with ``"schema"`` first."""
    return _json_line({"schema": SCHEMA, **document})


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
    stream.write(_json_line(value) + "\n")


def _json_line(value: dict[str, Any]) -> str:
    text = json.dumps(value, allow_nan=False)
    if "\\ud" in text:
        # Half a pair of surrogates, such as Python makes of an argument that is not UTF-8, is no JSON for most readers.
        text = json.dumps(_whole(value), allow_nan=False)
    return text.replace("\x7f", "\\u007f")


def _whole(value: Any) -> Any:
    match value:
        case str():
            return _readable(value)
        case dict():
            return {_whole(key): _whole(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType]  JSON
        case list() | tuple():
            return [_whole(one) for one in value]  # pyright: ignore[reportUnknownVariableType]  JSON
        case _:
            return value


def _readable(value: str) -> str:
    """Bytes that Python keeps as surrogates as in :func:`ingestd.model.source.display`; others by their number."""
    try:
        return os.fsencode(value).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()


@contextmanager
def written(stream: TextIO) -> Generator[None]:
    """Around all that is written to the stream: a reader that leaves has seen enough, as in ``ingestd status | head``.

    Raises
    ------
    OutOfSpace
        When the stream cannot be written to.
    """
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        raise OutOfSpace(f"standard output cannot be written ({error.strerror}): send it elsewhere") from error


def _discard(stream: TextIO) -> None:
    """Let the interpreter's last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _plain_table(table: Table) -> Iterator[str]:
    if table.title:
        yield printable(table.title)
    rows = [table.columns, *([cell_text(cell) for cell in row] for row in table.rows)]
    widths, numeric = _widths(table), _numeric_columns(table)
    for row in rows:
        cells = [_padded(cell, width, right=right) for cell, width, right in zip(row, widths, numeric, strict=True)]
        yield "  ".join(cells).rstrip()


def _show_on_terminal(parts: Iterable[Part], stream: TextIO, *, fitted: bool) -> None:
    from rich.console import Console

    console = Console(file=stream, highlight=False, soft_wrap=False)
    with console.capture() as captured:
        for part in parts:
            match part:
                case Line():
                    # Lines that scroll are left to the terminal to wrap: they can be copied whole then.
                    style = _STYLES[part.tone] or None
                    console.print(printable(part.text), style=style, markup=False, soft_wrap=not fitted)
                case Table():
                    console.print(_rich_table(part, console.width))
    stream.write(_fitted(captured.get(), console.height) if fitted else captured.get())


def _fitted(text: str, height: int) -> str:
    lines = text.splitlines()
    room = max(height - 2, 1)
    if len(lines) > room:
        lines = [*lines[:room], f"… {len(lines) - room} more lines: `ingestd status` shows all"]
    return "\x1b[2J\x1b[H" + "\n".join(lines) + "\n"


def _rich_table(table: Table, width: int) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(
        title=Text(printable(table.title)) if table.title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    widths = _widths(table)
    kept = _columns_that_fit(table, widths, width)
    numeric = _numeric_columns(table)
    for column in kept:
        # Only prose is folded: a number or a name in two lines cannot be read.
        shown.add_column(
            table.columns[column],
            justify="right" if numeric[column] else "left",
            overflow="fold",
            min_width=min(widths[column], _UNFOLDED_CHARS),
        )
    for row in table.rows:
        shown.add_row(*(Text(cell_text(row[column])) for column in kept))
    return shown


def _columns_that_fit(table: Table, widths: Sequence[int], width: int) -> list[int]:
    kept = list(range(len(table.columns)))
    for name in table.spare:
        if sum(widths[column] + _GAP_CHARS for column in kept) <= width:
            break
        kept.remove(table.columns.index(name))
    return kept


def _widths(table: Table) -> list[int]:
    rows = [table.columns, *([cell_text(cell) for cell in row] for row in table.rows)]
    return [max(len(row[column]) for row in rows) for column in range(len(table.columns))]


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
