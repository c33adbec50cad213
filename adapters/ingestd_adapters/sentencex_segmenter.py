"""Sentences by the rules of sentencex, made lossless for every text."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module

from ingestd.errors import AdapterUnavailable, ConfigurationError

VERSION = 2
"""Raised whenever a boundary moves for any text."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE = "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_WIDE_SPACES = re.compile(f"[{_WIDE}]++(\\.?)")
# Never the end of a sentence, whatever follows.
_ABBREVIATIONS = frozenset(
    {"al", "assoc", "ca", "capt", "cf", "col", "dept", "dr", "e.g", "eds", "eqs", "figs", "gen", "gov", "hon", "i.e"}
    | {"incl", "lt", "mr", "mrs", "ms", "nos", "ph.d", "pp", "prof", "refs", "rep", "resp", "rev", "secs", "sen", "sgt"}
    | {"st", "univ", "viz", "vols", "vs"}
)
# Not the end of a sentence before a number: "No. 5", but not "No. He did not."
_BEFORE_NUMBER = frozenset(
    {"alg", "app", "approx", "art", "ch", "chap", "cl", "def", "eq", "fig", "lem", "no", "p", "par", "prop", "ref"}
    | {"sec", "tab", "thm", "v", "ver", "vol"}
)
_NUMBER = re.compile(r"\s*[(\[]?(?:\d|[IVXLC]+\b)")
_WINDOW = 4096
"""Characters that the engine reads at once."""
_LONGEST = 16
"""Characters before a boundary among which an abbreviation is looked for."""


def sentencex(language: str = "en") -> "Sentencex":
    """Segmenter for a language by its ISO 639 code; unknown ones fall back to English rules.

    Raises
    ------
    AdapterUnavailable
        When the engine is not installed.
    ConfigurationError
        When the language is no code.
    """
    if not _LANGUAGE.fullmatch(language):
        raise ConfigurationError(f"segmenter language {language!r} is no ISO 639 code; write one such as 'en' or 'de'")
    try:
        segment: Callable[[str, str], Iterable[str]] = import_module("sentencex").segment
    except ImportError as error:
        raise AdapterUnavailable("the segmenter 'sentencex' is not installed: pip install sentencex") from error
    return Sentencex(language=language, _segment=segment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentencex:
    """Splits by the engine's rules, then joins again what was cut after an abbreviation or an initial."""

    language: str
    _segment: Callable[[str, str], Iterable[str]] = field(repr=False)

    @property
    def name(self) -> str:
        """Identity for the recipe."""
        return f"sentencex-{self.language}/{VERSION}"

    def split(self, text: str) -> list[str]:
        """Sentences whose concatenation is the text, none of them empty."""
        valid = _readable(text)
        sentences: list[str] = []
        cut = 0
        for start in self._starts(valid):
            if start > cut and not _vetoed(valid, start):
                sentences.append(text[cut:start])
                cut = start
        if cut < len(text):
            sentences.append(text[cut:])
        return sentences

    def _starts(self, text: str) -> Iterator[int]:
        """First characters of sentences, ascending.

        The engine reads a window at a time, since its time grows with the square of the sentences of a paragraph
        (measured in 2026-11 on Chinese text); the last sentence of a window may go on, so the next one begins with it.
        """
        position, begun = 0, False
        while position < len(text):
            window = text[position : position + _WINDOW]
            starts = _found(text, position, self._segment(self.language, window))
            # A sentence longer than the window before it goes on here: what begins the window is no sentence.
            first, begun = int(begun), len(starts) < 2
            if begun or position + _WINDOW >= len(text):
                yield from starts[first:]
                position += _WINDOW
            else:
                yield from starts[first:-1]
                position = starts[-1]


def _readable(text: str) -> str:
    """The text with stand-ins, each as long, for what the engine fails at.

    That is a surrogate, which is no valid UTF-8, or a space of more than one byte between an initial and its full stop
    (measured in 2026-11).
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
    return _WIDE_SPACES.sub(_narrow, text) if any(space in text for space in _WIDE) else text


def _narrow(found: re.Match[str]) -> str:
    text, end = found.string, found.start()
    if not found[1]:
        return found[0]
    while end and text[end - 1].isspace():
        end -= 1
    initial = text[max(0, end - 1) : end].isalpha() and not text[max(0, end - 2) : max(0, end - 1)].isalnum()
    return " " * (len(found[0]) - 1) + "." if initial else found[0]


def _found(text: str, position: int, sentences: Iterable[str]) -> list[int]:
    """First character of each sentence of a window at the position that holds more than white space.

    The engine drops some line feeds between paragraphs, so each sentence is looked up instead of added up.
    """
    starts: list[int] = []
    end = position + _WINDOW
    for sentence in sentences:
        words = sentence.strip()
        found = text.find(words, position, end) if words else -1
        if found >= 0:
            position = found + len(words)
            starts.append(found)
    return starts


def _vetoed(text: str, start: int) -> bool:
    before = text[max(0, start - _LONGEST) : start]
    words = before.rstrip()
    if not words.endswith(".") or "\n\n" in before[len(words) :]:
        return False
    word = words[:-1].rsplit(None, 1)[-1] if len(words) > 1 and not words[-2].isspace() else ""
    word = word.lstrip("([{\"'\u201c\u2018").lower()
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return True
    return word in _BEFORE_NUMBER and _NUMBER.match(text, start) is not None
