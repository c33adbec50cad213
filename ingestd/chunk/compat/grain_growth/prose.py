"""Texts cut at sentences, words and lines."""

import re
from collections.abc import Iterator

_ENDS = re.compile(r"[.!?]\s+(?=[A-Z0-9(\[\"\u201c])")
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|et al|Figs?|Eqs?|Secs?|Tab|Refs?|Alg|Def|Thm|Lem|Prop|vs|cf|approx|resp|Dr|Prof|St|Mr|Ms)\.\Z",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 6
_SPENT = re.compile(r"\bi\.e\.g\.\Z", re.IGNORECASE)
"""Read from the left: ``i.e.`` takes the letter that ``e.g.`` would begin with."""
_CLOSERS = ")]\"'\u201d\u2019"
_STOPS = (".", "!", "?")
_NUL = "\0"
"""Comes back as a full stop."""


def ends_in_stop(text: str) -> bool:
    """Whether the last thing that is said ends with ``.``, ``!`` or ``?``, closing marks aside."""
    return text.rstrip().rstrip(_CLOSERS).endswith(_STOPS)


def split_sentences(text: str) -> list[str]:
    """Sentences without the whitespace between them.

    One ends after ``.``, ``!`` or ``?`` before whitespace with an ASCII capital, a digit, an opening bracket or quote
    after it, unless the stop belongs to one of a few abbreviations.
    """
    sentences: list[str] = []
    start = 0
    for end in _ENDS.finditer(text):
        stop = end.start()
        if text[stop] == "." and _abbreviates(text, stop):
            continue
        sentences.append(text[start : stop + 1])
        start = end.end()
    sentences.append(text[start:])
    stripped = (sentence.strip() for sentence in sentences)
    return [sentence.replace(_NUL, ".") for sentence in stripped if sentence]


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
        if piece and length + 1 + len(part) > target:
            yield " ".join(piece), repeated
            carry = piece[-1] if len(piece[-1]) <= target // 3 else ""
            piece = [carry] if carry else []
            length = repeated = len(carry)
        length += len(part) + bool(piece)
        piece.append(part)
    if piece:
        yield " ".join(piece), repeated


def split_lines(text: str, limit: float) -> Iterator[str]:
    """Runs of whole lines of at most the limit; a longer line stands alone. Blank lines that begin a run are free."""
    run: list[str] = []
    length = 0
    for line in text.split("\n"):
        if run and length + 1 + len(line) > limit:
            yield "\n".join(run)
            run = []
            length = 0
        length += len(line) + (1 if length else 0)
        run.append(line)
    if run:
        yield "\n".join(run)


def _abbreviates(text: str, stop: int) -> bool:
    window = max(0, stop - _LONGEST_ABBREVIATION), stop + 1
    return _ABBREVIATION.search(text, *window) is not None and _SPENT.search(text, *window) is None


def _parts(text: str, target: float) -> Iterator[str]:
    for sentence in split_sentences(text):
        if len(sentence) > target:
            yield from _split_words(sentence, target)
        else:
            yield sentence


def _split_words(text: str, limit: float) -> Iterator[str]:
    """Words joined by single spaces up to the limit; a longer word stands alone."""
    words = " ".join(text.split())
    room = max(0, int(limit))
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
