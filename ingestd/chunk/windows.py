"""Cuts of a text without structure, at words where there are any, else between graphemes."""

from ingestd.chunk.graphemes import boundary

_BLANKS = (" ", "\n", "\t", "\u3000")
_PAUSES = ("\u3001", "\uff0c", "\uff1b", "\u3002", ",", ";", "/", "&")


def windows(text: str, start: int, end: int, count: int) -> list[tuple[int, int]]:
    """About ``count`` spans of like length, blanks around them left out, that hold all of ``text[start:end]``.

    Every span is shorter than the whole when the whole is longer than one character: repeated cutting always ends.
    """
    width = max(1, -(-(end - start) // max(2, count)))
    spans: list[tuple[int, int]] = []
    position = start
    while position < end:
        limit = position + width
        cut = end if limit >= end else _cut(text, position, limit, end)
        core = trimmed(text, position, cut)
        if core is not None:
            spans.append(core)
        position = cut
    return spans


def trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Span without the white space around it; ``None`` when there is nothing else."""
    piece = text[start:end]
    core = piece.lstrip()
    if not core:
        return None
    first = end - len(core)
    return first, first + len(core.rstrip())


def _cut(text: str, low: int, limit: int, end: int) -> int:
    middle = low + (limit - low) // 2
    for marks in (_BLANKS, _PAUSES):
        found = max(text.rfind(mark, middle, limit) for mark in marks)
        if found >= middle and found > low:
            return found + 1 if marks is _BLANKS else boundary(text, found + 1, low, end)
    return boundary(text, limit, low, end)
