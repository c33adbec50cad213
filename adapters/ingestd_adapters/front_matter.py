"""Front matter of a Markdown file: a strict subset of YAML between ``---``, or TOML between ``+++``.

Only plain keys, strings, numbers, booleans, lists of scalars, block strings and comments are understood. A value
of another shape is kept as the text that stands there: nothing is executed, resolved or lost.
"""

import json
import math
import re
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

_MAX_LINES = 2_000
_MAX_DEPTH = 16
_KEY = re.compile(r"([A-Za-z_][\w.\- ]{0,127}|\"[^\"\n]{1,128}\"|'[^'\n]{1,128}')[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})$")
_FLOAT = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{1,17}(?:[eE][-+]?[0-9]{1,3})?$")
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before the text."""

    values: Mapping[str, Any]
    """JSON values."""
    lines: int
    """How many lines it takes, its fences included."""


def front_matter(lines: Sequence[str]) -> FrontMatter | None:
    """Front matter at the head of these lines (without line ends), or ``None`` when the text begins at once."""
    fence = lines[0].rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return None
    closings = ("---", "...") if fence == "---" else ("+++",)
    for index in range(1, min(len(lines), _MAX_LINES)):
        if lines[index].rstrip() in closings:
            inner = lines[1:index]
            values = _yaml(inner) if fence == "---" else _toml(inner)
            return None if values is None else FrontMatter(values, index + 1)
    return None


def _toml(lines: Sequence[str]) -> dict[str, Any] | None:
    try:
        values = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return {key: _json_value(value) for key, value in values.items()}


def _json_value(value: Any, depth: int = 0) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if depth < _MAX_DEPTH and isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance tells nothing of what it holds
        return [_json_value(each, depth + 1) for each in items]
    if depth < _MAX_DEPTH and isinstance(value, dict):
        entries: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance tells nothing of what it holds
        return {key: _json_value(each, depth + 1) for key, each in entries.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _yaml(lines: Sequence[str]) -> dict[str, Any] | None:
    """Values by key; ``None`` when a line in the first column is neither a key nor a comment: this is a text."""
    values: dict[str, Any] = {}
    index = 0
    while index < len(lines):
        line = lines[index].rstrip()
        index += 1
        if not line or line.startswith("#"):
            continue
        found = _KEY.match(line)
        if not found:
            return None
        first = index
        while index < len(lines) and _belongs(lines[index]):
            index += 1
        values[found[1].strip("\"'")] = _value((found[2] or "").strip(), lines[first:index])
    return values or None


def _belongs(line: str) -> bool:
    return not line.strip() or line[0] in " \t" or line.startswith("- ") or line.rstrip() == "-"


def _value(inline: str, below: Sequence[str]) -> Any:
    inline = _without_comment(inline)
    stripped = [line.strip() for line in below if line.strip() and not line.strip().startswith("#")]
    if inline[:1] in ("|", ">") and len(inline) <= 3:
        texts = [line.strip() for line in below]
        return ("\n" if inline[0] == "|" else " ").join(texts).strip()
    if not stripped:
        return _inline(inline)
    if inline:
        return " ".join([inline, *stripped])
    if all(line.startswith("- ") and not _KEY.match(line[2:].strip()) for line in stripped):
        return [_inline(_without_comment(line[2:].strip())) for line in stripped]
    return textwrap.dedent("\n".join(line.rstrip() for line in below)).strip("\n")


def _without_comment(text: str) -> str:
    if text[:1] in ("'", '"'):
        closing = text.find(text[0], 1)
        while text[0] == '"' and closing > 0 and text[closing - 1] == "\\":
            closing = text.find('"', closing + 1)
        rest = text[closing + 1 :].strip() if closing > 0 else ""
        return text[: closing + 1] if rest.startswith("#") else text
    return "" if text.startswith("#") else text.split(" #", 1)[0].rstrip()


def _inline(text: str) -> Any:
    if len(text) > 1 and text[0] == "[" and text[-1] == "]":
        return [_scalar(item.strip()) for item in _split(text[1:-1])]
    return _scalar(text)


def _split(text: str) -> list[str]:
    """Items between commas that stand outside quotes; a trailing comma ends the list."""
    items: list[str] = []
    quote, start = "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and not text[start:index].strip():
            quote = character
        elif character == ",":
            items.append(text[start:index])
            start = index + 1
    return items if not text[start:].strip() else [*items, text[start:]]


def _scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _double_quoted(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _double_quoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text[1:-1]
    return value if isinstance(value, str) else text[1:-1]
