"""What a command has to say to people, before anyone knows on what it is shown."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ingestd.cli.exit_codes import ExitCode

Document = Mapping[str, Any]
"""JSON values under the field names of the contract."""
Tone = Literal["plain", "strong", "faint", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; anything in it that is not printable is escaped when it is shown."""

    text: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under headings; numbers are set to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    title: str = ""
    spare: tuple[str, ...] = ()
    """Columns that a terminal too narrow for all goes without, the first to go first."""


Part = Line | Table
Report = Callable[[Document], Iterable[Part]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command found out, for programs and for people."""

    document: Document
    report: Report
    """Pure: the document as lines and tables."""
    code: ExitCode = ExitCode.DONE


def counted(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def unknown(document: Document) -> Iterator[Line]:
    """Paths named that no root knows a source at."""
    for one in document.get("unknown", ()):
        yield Line(f"{one['path']}: {one['reason']}", "bad")
