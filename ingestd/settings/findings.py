"""What is wrong in a configuration: one value a finding."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestd.settings.lines import KeyPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to mend."""

    path: KeyPath
    """The key or table it is about; empty for the file as a whole."""
    message: str
    """What is wrong, what was expected, the way out."""
    line: int | None = None
    """1-based; ``None`` for a key that is not written, in a table that is not written."""


def report(findings: Iterable[Finding], file: Path) -> str:
    """All findings, a line each, in the order of the file: ``FILE:LINE: KEY: MESSAGE``."""
    return "\n".join(_line(finding, file) for finding in in_order(findings))


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by line; those without one come first."""
    return sorted(findings, key=lambda finding: (finding.line or 0, dotted(finding.path), finding.message))


def nearest(word: str, known: Sequence[str]) -> str:
    """The way out of an unknown word: the nearest known one, or all of them."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def dotted(path: KeyPath) -> str:
    """Path as people write it: ``root[2].chunker.max_size``, tables of an array counted from 1."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def shown(value: Any, limit: int = 60) -> str:
    """Value for a message, cut to a length that fits a line."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _line(finding: Finding, file: Path) -> str:
    place = f"{file}:{finding.line}" if finding.line else str(file)
    about = dotted(finding.path)
    return f"{place}: {about}: {finding.message}" if about else f"{place}: {finding.message}"
