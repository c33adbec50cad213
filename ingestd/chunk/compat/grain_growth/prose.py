"""Texts cut at sentences, words and lines."""

import re
import sys
from collections.abc import Iterator

_ABBREVIATIONS = (
    "vs|cf|Eq|Dr|St|Mr|Ms",
    r"(?<!\bi\.)e\.g|i\.e|Fig|Eqs|Sec|Tab|Ref|Alg|Def|Thm|Lem",  # read from the left, i.e.g. is i.e. before a g
    "Figs|Secs|Refs|Prop|resp|Prof",
    "et al",
    "approx",
)
"""By length: what a pattern looks back at must have one."""
_UNLESS_ABBREVIATED = "".join(rf"(?<!\b(?i:{words})\.)" for words in _ABBREVIATIONS)
_NEXT = r"\s+(?=[A-Z0-9(\[\"\u201c])"
_ENDS = {
    ".": re.compile(rf"\.(?={_NEXT}){_UNLESS_ABBREVIATED}\s+"),
    "!": re.compile(rf"!{_NEXT}"),
    "?": re.compile(rf"\?{_NEXT}"),
}
"""One for each stop: the engine looks for a pattern's first character four times as fast as for one of a set."""
_CLOSERS = ")]\"'\u201d\u2019"
_STOPS = (".", "!", "?")
_TAIL = 64
_FILLED = re.compile(r"[^\n]")
_NUL = "\0"
"""Comes back as a full stop."""


def ends_in_stop(text: str) -> bool:
    """Whether the last thing that is said ends with ``.``, ``!`` or ``?``, closing marks aside."""
    said = text[-_TAIL:].rstrip().rstrip(_CLOSERS) or text.rstrip().rstrip(_CLOSERS)
    return said.endswith(_STOPS)


def split_sentences(text: str) -> list[str]:
    """Sentences without the whitespace between them.

    One ends after ``.``, ``!`` or ``?`` before whitespace with an ASCII capital, a digit, an opening bracket or quote
    after it, unless the stop belongs to one of a few abbreviations.
    """
    mark = _NUL if _NUL not in text else next(one for one in map(chr, range(sys.maxunicode)) if one not in text)
    marked = text.strip()
    for stop, ends in _ENDS.items():
        marked = ends.sub(stop + mark, marked)
    if mark != _NUL:
        marked = marked.replace(_NUL, ".")
    return marked.split(mark) if marked else []


def split_long_text(text: str, target: float) -> list[str]:
    """Pieces of whole sentences; a piece begins with the last sentence of the one before when that is short.

    Parameters
    ----------
    target
        Characters a piece should have. Longer sentences are cut between words. A sentence said again counts towards it,
        yet a piece may exceed it by up to a third where the next sentence is long.
    """
    return [piece for piece, _ in overlapping_pieces(text, target)]


def overlapping_pieces(text: str, target: float) -> Iterator[tuple[str, int]]:
    """Pieces as `split_long_text` gives them, each with the length of what it repeats at its start."""
    piece: list[str] = []
    length = repeated = 0
    for part in _parts(text, target):
        size = len(part)
        if piece:
            if length + 1 + size <= target:
                length += 1 + size
                piece.append(part)
                continue
            yield " ".join(piece), repeated
            repeated = len(piece[-1])
            if repeated <= target // 3:
                piece = [piece[-1], part]
                length = repeated + 1 + size
                continue
        piece = [part]
        length, repeated = size, 0
    if piece:
        yield " ".join(piece), repeated


def split_lines(text: str, limit: float) -> Iterator[str]:
    """Runs of whole lines of at most the limit; a longer line stands alone. Blank lines that begin a run are free."""
    room = int(max(0, limit))
    if room < 1:
        yield from text.split("\n")
        return
    start = 0
    while filled := _FILLED.search(text, start):
        first = filled.start()
        end = text.find("\n", first)
        end = len(text) if end < 0 else end
        if first > start and 1 + end - first > room:
            yield text[start : first - 1]
            start = first
        if len(text) - first <= room:
            break
        stop = max(text.rfind("\n", first, first + room + 1), end if end - first > room else 0)
        if stop == len(text):
            break
        yield text[start:stop]
        start = stop + 1
    yield text[start:]


def _parts(text: str, target: float) -> list[str]:
    parts = split_sentences(text)
    if max(map(len, parts), default=0) > target:
        return [word for part in parts for word in (_split_words(part, target) if len(part) > target else (part,))]
    return parts


def _split_words(text: str, limit: float) -> Iterator[str]:
    """Words joined by single spaces up to the limit; a longer word stands alone."""
    words = " ".join(text.split())
    room = int(max(0, limit))
    start = 0
    while len(words) - start > room:
        end = words.rfind(" ", start, start + room + 1)
        if end < 0:
            end = words.find(" ", start)
        if end < 0:
            break
        yield words[start:end]
        start = end + 1
    if start < len(words):
        yield words[start:]
