"""The line on which each key and table of a TOML text stands.

The text has been read by :mod:`tomllib` already, which gives values without places. This scanner relies on its being
valid TOML: it follows keys and skips values.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

KeyPath = tuple[str | int, ...]
"""Keys from the outermost in; an index (0-based) after the key of an array of tables."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}\n#]*")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}"),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([btnfr"\\]))')


def lines_of(text: str) -> Mapping[KeyPath, int]:
    """Line (1-based) of each key, table and element of an array, by its path; the first where it occurs twice."""
    lines: dict[KeyPath, int] = {}
    for path, offset in _Scanner(text).places():
        lines.setdefault(path, text.count("\n", 0, offset) + 1)
    return MappingProxyType(lines)


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Line of the path, or of the innermost table around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Scanner:
    """Reads one text from its start to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._tables: dict[KeyPath, int] = {}
        """How many tables each array of tables has had so far."""

    def places(self) -> Iterator[tuple[KeyPath, int]]:
        table: KeyPath = ()
        while self._skip(_BLANK) and self._at < len(self._text):
            start = self._at
            if self._text.startswith("[", start):
                table = self._header()
                yield table[:-1] if isinstance(table[-1], int) and table[-1] == 0 else table, start
                yield table, start
            else:
                yield from self._assignment(table)

    def _header(self) -> KeyPath:
        array = self._text.startswith("[[", self._at)
        self._at += 2 if array else 1
        keys = self._key()
        self._at += 2 if array else 1
        path = self._resolved(keys[:-1])
        path = (*path, keys[-1])
        if array:
            self._tables[path] = self._tables.get(path, 0) + 1
        return self._indexed(path)

    def _resolved(self, keys: list[str]) -> KeyPath:
        path: KeyPath = ()
        for key in keys:
            path = self._indexed((*path, key))
        return path

    def _indexed(self, path: KeyPath) -> KeyPath:
        return (*path, self._tables[path] - 1) if path in self._tables else path

    def _assignment(self, table: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        start = self._at
        keys = self._key()
        for length in range(1, len(keys) + 1):
            yield (*table, *keys[:length]), start
        self._at += 1  # the equals sign
        yield from self._value((*table, *keys))

    def _key(self) -> list[str]:
        """Parts of a dotted key; leaves the position on what follows it."""
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            bare = _BARE_KEY.match(self._text, self._at)
            parts.append(bare.group() if bare else _unquoted(self._string()))
            self._at = bare.end() if bare else self._at
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _value(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        self._skip(_SPACE)
        first = self._text[self._at : self._at + 1]
        if first == "[":
            yield from self._array(path)
        elif first == "{":
            yield from self._inline_table(path)
        elif first in ('"', "'"):
            self._string()
        else:
            self._skip(_BARE_VALUE)

    def _array(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        for index in self._items("]"):
            yield (*path, index), self._at
            yield from self._value((*path, index))

    def _inline_table(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        for _ in self._items("}"):
            yield from self._assignment(path)

    def _items(self, end: str) -> Iterator[int]:
        """Stop at each item between brackets, and after the closing one."""
        self._at += 1
        index = 0
        while self._skip(_BLANK) and self._at < len(self._text):
            here = self._text[self._at]
            if here == end:
                self._at += 1
                return
            if here == ",":
                self._at += 1
                continue
            yield index
            index += 1

    def _string(self) -> str:
        for pattern in _STRINGS:
            if found := pattern.match(self._text, self._at):
                self._at = found.end()
                return found.group()
        raise ValueError(f"no key or string at character {self._at}: the text is no valid TOML")

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return True


def _unquoted(string: str) -> str:
    """Value of a quoted key (one line, so one quotation mark at each end)."""
    inner = string[1:-1]
    return inner if string[0] == "'" else _ESCAPE.sub(_unescaped, inner)


def _unescaped(escape: re.Match[str]) -> str:
    short, long, letter = escape.groups()
    return _ESCAPES[letter] if letter else chr(int(short or long, 16))
