"""Decides which names below a root are sources."""

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, cast

import pathspec

from ingestd.errors import ConfigurationError
from ingestd.model.source import display

RULES_FILE: Final = b".ingestignore"
"""A file of this name holds further rules, in the form of a ``.gitignore``, for its own directory and those below."""
RULES_FILE_BYTES: Final = 1 << 20

_TEMPORARY_SUFFIXES: Final = frozenset(
    b".part .partial .crdownload .download .opdownload .filepart .tmp .temp .swp .swo .swx".split()
)
_TEMPORARY_NAMES: Final = frozenset((b"thumbs.db", b"desktop.ini"))
_DOUBTFUL_SUFFIXES: Final = _TEMPORARY_SUFFIXES | {b".db", b".ini"}
_ODD_STARTS: Final = b".~#"
_TILDE: Final = ord("~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The name is a source, or a directory to look into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """The name is left out."""

    reason: str


Verdict = Wanted | Ignored
WANTED: Final = Wanted()
_HIDDEN: Final = Ignored(reason="hidden name")
_TEMPORARY: Final = Ignored(reason="temporary name")
_RULES: Final = Ignored(reason="rules of ingestd itself")
_UNSUPPORTED: Final = Ignored(reason="unsupported type")
_NOT_INCLUDED: Final = Ignored(reason="not in `include`")
_EXCLUDED: Final = Ignored(reason="in `exclude`")
_NOT_RECURSIVE: Final = Ignored(reason="a directory, and `recursive` is off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a root's configuration says of its names.

    Globs have the meaning of ``.gitignore`` lines. A name matched by ``exclude`` is out, whatever files in the folders
    say; one that a negated line (``!name``) of ``exclude`` or of a ``.ingestignore`` lets in again is in although it
    is hidden or looks temporary.
    """

    include: tuple[str, ...] = ()
    """Files must match; empty lets every file in. Directories need not match."""
    exclude: tuple[str, ...] = ()
    recursive: bool = True
    wanted_suffixes: frozenset[str] | None = None
    """Lower-case suffixes with their dot that some converter takes, ``""`` for none; ``None`` lets every type in."""


@dataclass(frozen=True, slots=True)
class _Line:
    regex: re.Pattern[str]
    takes: bool
    """False for a negated line."""
    anywhere: bool = False
    """``*`` and ``*/``: pathspec looks for one character or one slash anywhere in the path."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """The lines of one ``.ingestignore``."""

    depth: int
    """Characters of its directory's path with the slash behind it."""
    lines: tuple[_Line, ...]
    ignored: Ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRules:
    """The rules as they stand in one directory; made by :func:`top_rules`, then :meth:`enter`."""

    directory: bytes
    _prefix: str = ""
    _include: tuple[_Line, ...] = ()
    _exclude: tuple[_Line, ...] = ()
    _recursive: bool = True
    _suffixes: frozenset[bytes] | None = None
    _layers: tuple[_Layer, ...] = field(default=())
    """Deepest first."""

    def verdict(self, name: bytes, *, is_directory: bool) -> Verdict:
        """Whether the directory's entry of this name is wanted; its directory itself must be."""
        if name == RULES_FILE:
            return _RULES
        explicit: Verdict | None = None
        if self._exclude or self._layers:
            explicit = self._explicit(name, is_directory=is_directory)
        if explicit is None:
            explicit = _doubtful(name)
        if isinstance(explicit, Ignored):
            return explicit
        if is_directory:
            return WANTED if self._recursive else _NOT_RECURSIVE
        if self._suffixes is not None and _suffix(name) not in self._suffixes:
            return _UNSUPPORTED
        if self._include and not _match(self._include, self._prefix + _text(name)):
            return _NOT_INCLUDED
        return WANTED

    def enter(self, directory: bytes) -> "FolderRules":
        """Rules for a directory below, before its own ``.ingestignore``."""
        return replace(self, directory=directory, _prefix=_text(directory) + "/" if directory else "")

    def reading(self, content: bytes) -> tuple["FolderRules", tuple[str, ...]]:
        """Rules with those of this directory's ``.ingestignore`` added, with the lines that mean nothing."""
        lines, bad = _lines(content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"))
        where = display(self.directory + b"/" + RULES_FILE if self.directory else RULES_FILE)
        layer = _Layer(len(self._prefix), lines, Ignored(reason=f"in {where}"))
        return replace(self, _layers=(layer, *self._layers)), bad

    def _explicit(self, name: bytes, *, is_directory: bool) -> Verdict | None:
        path = self._prefix + _text(name) + ("/" if is_directory else "")
        configured = _match(self._exclude, path)
        if configured:
            return _EXCLUDED
        for layer in self._layers:
            local = _match(layer.lines, path[layer.depth :])
            if local is not None:
                return layer.ignored if local else WANTED
        return None if configured is None else WANTED


def top_rules(rules: Rules) -> FolderRules:
    """Rules for the root itself, before its own ``.ingestignore``.

    Raises
    ------
    ConfigurationError
        When a glob has no meaning; names it.
    """
    suffixes = rules.wanted_suffixes
    return FolderRules(
        directory=b"",
        _include=_configured("include", rules.include),
        _exclude=_configured("exclude", rules.exclude),
        _recursive=rules.recursive,
        _suffixes=None if suffixes is None else frozenset(suffix.encode().lower() for suffix in suffixes),
    )


def _configured(key: str, globs: Iterable[str]) -> tuple[_Line, ...]:
    lines, bad = _lines(globs)
    if bad:
        raise ConfigurationError(f"`{key}`: {bad[0]}: write it as a line of a .gitignore")
    return lines


def _lines(texts: Iterable[str]) -> tuple[tuple[_Line, ...], tuple[str, ...]]:
    """Lines that mean something, last first, with a message for each that has no meaning."""
    lines: list[_Line] = []
    bad: list[str] = []
    for number, text in enumerate(texts, 1):
        try:
            with warnings.catch_warnings():
                # Of sets such as `[[]`, whose meaning in regular expressions may change one day; today it is Git's.
                warnings.simplefilter("ignore", FutureWarning)
                spec = pathspec.GitIgnoreSpec.from_lines([_own_match(text.rstrip("\r"))])
        except (ValueError, re.error):  # also what pathspec's own error is; and a set such as `[b-a]`
            bad.append(f"line {number}, {text!r}, is no pattern")
            continue
        lines.extend(line for pattern in spec.patterns if (line := _line(pattern)) is not None)
    return tuple(reversed(lines)), tuple(bad)


def _own_match(line: str) -> str:
    """Spell ``x/**`` so that it matches what is in x and not x: only then can a later line let some of it in again."""
    bare = line.strip()
    if bare in ("/", "!/"):
        return ""
    if bare.endswith("/**") or bare == "**":
        return bare + "/*"
    return bare[:-1] + "/*/" if bare.endswith("/**/") else line


def _line(pattern: pathspec.RegexPattern) -> _Line | None:
    # Typed for str or bytes there; only str goes in here.
    regex = cast("re.Pattern[str] | None", pattern.regex)  # pyright: ignore[reportUnknownMemberType]
    if pattern.include is None or regex is None:
        return None
    return _Line(regex, pattern.include, anywhere=not regex.pattern.startswith("^"))


def _match(lines: tuple[_Line, ...], path: str) -> bool | None:
    """What the last line that matches the path itself says; a match of a directory above it does not count."""
    for line in lines:
        if line.anywhere:
            if line.regex.search(path, len(path) - 1):
                return line.takes
            continue
        match = line.regex.match(path)
        if match is not None and match.end(match.lastindex or 0) == len(path):
            return line.takes
    return None


def _doubtful(name: bytes) -> Ignored | None:
    # Runs for each entry of a scan: the plain name passes two comparisons and one look-up.
    if name[0] in _ODD_STARTS or name[-1] == _TILDE:
        if name[:1] == b".":
            return _HIDDEN
        if name[:2] == b"~$" or name[-1:] == b"~" or (name[:1] == b"#" and name[-1:] == b"#"):
            return _TEMPORARY
    suffix = name[name.rfind(b".") :].lower()
    if suffix in _DOUBTFUL_SUFFIXES and (suffix in _TEMPORARY_SUFFIXES or name.lower() in _TEMPORARY_NAMES):
        return _TEMPORARY
    return None


def _suffix(name: bytes) -> bytes:
    dot = name.rfind(b".")
    return name[dot:].lower() if dot > 0 else b""


def _text(path: bytes) -> str:
    # A pattern's dot and dollar treat a line feed apart; no pattern line can hold one.
    return path.decode("utf-8", "surrogateescape").replace("\n", "\x1f")
