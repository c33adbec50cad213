"""The tables of the comparison."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One phase of one tool."""

    tool: str
    phase: str
    cpu_seconds: float
    wall_seconds: float
    embedded: int | None
    """``None`` when the run ended without saying so."""
    unseen: int
    """Texts stored now that were not before: what had to be embedded."""
    stored: int
    stale: int
    """Points whose text is not in the file that they name."""
    missing: int
    """Files without a point."""
    exit_code: int
    peaks_mib: dict[str, float]
    state_bytes: int
    """Bytes on the disk beside what holds points and vectors."""
    vectors_bytes: int

    def as_json(self) -> dict[str, Any]:
        """For one line of the log."""
        return asdict(self)


def table(rows: Sequence[Row]) -> str:
    """CPU seconds with what they are of ingestd's, then the rest."""
    names = list(dict.fromkeys(row.tool for row in rows))
    by_key = {(row.tool, row.phase): row for row in rows}
    phases = list(dict.fromkeys(row.phase for row in rows))
    lines = _head(["phase", *names])
    for phase in phases:
        own = by_key.get((names[0], phase))
        lines.append(_line([phase, *(_cell(by_key.get((name, phase)), own) for name in names)]))
    lines += ["", "CPU s (wall s), x the first column; texts embedded / texts not stored before; points.", ""]
    lines += _head(["", *names])
    last = {name: [row for row in rows if row.tool == name] for name in names}
    lines.append(_line(["peak MiB, initial", *(_peaks(last[name][0]) for name in names)]))
    lines.append(_line(["peak MiB, no-op", *(_peaks(last[name][1]) for name in names)]))
    lines.append(_line(["state beside the vectors, MiB", *(f"{last[n][0].state_bytes / _MIB:.1f}" for n in names)]))
    lines.append(_line(["points and vectors, MiB", *(f"{last[n][0].vectors_bytes / _MIB:.1f}" for n in names)]))
    return "\n".join(lines) + "\n"


def _cell(row: Row | None, own: Row | None) -> str:
    if row is None:
        return ""
    ratio = "" if own is None or row is own else f", x{row.cpu_seconds / max(own.cpu_seconds, 0.01):.1f}"
    text = f"{row.cpu_seconds:.2f} ({row.wall_seconds:.1f}){ratio}; "
    text += "no report" if row.embedded is None else f"{row.embedded} / {row.unseen}"
    text += f"; {row.stored}"
    if row.stale or row.missing:
        text += f", **{row.stale} stale, {row.missing} files missing**"
    return text + (f", exit {row.exit_code}" if row.exit_code else "")


def _peaks(row: Row) -> str:
    return ", ".join(f"{name} {peak:.0f}" for name, peak in row.peaks_mib.items())


def _head(cells: Sequence[str]) -> list[str]:
    return [_line(cells), _line(["---"] * len(cells))]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
