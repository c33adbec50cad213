"""Text shortened to its first and last words, to fit a line."""

import unicodedata

_ELISION = " … "


def edges(text: str, most: int) -> tuple[str, str]:
    """First and last words in one line, at most so many characters each; all is in the first when it is short."""
    words = " ".join(text.split())
    if len(words) <= 2 * most:
        return words, ""
    return _first(words, most), _last(words, most)


def fitted(first: str, last: str, columns: int) -> str:
    """Both in so many cells of a terminal, with what marks that something is left out between them."""
    whole = first + _ELISION + last if last else first
    if cells(whole) <= columns:
        return whole
    side = max(1, (columns - len(_ELISION)) // 2)
    return _first(first, side) + _ELISION + _last(last or first, side)


def fitted_end(text: str, columns: int) -> str:
    """The end of a text in so many cells of a terminal."""
    return text if cells(text) <= columns else "… " + _last(text, max(1, columns - 2))


def cells(text: str) -> int:
    """Columns that a terminal needs for the text: two for wide characters, none for marks on others."""
    return sum(_cells_of(character) for character in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _first(text: str, most: int) -> str:
    """Beginning of at most so many cells, up to a space unless that is far from its end."""
    taken, at = 0, 0
    while at < len(text) and taken + _cells_of(text[at]) <= most:
        taken += _cells_of(text[at])
        at += 1
    space = text.rfind(" ", 0, at + 1)
    return text[:at] if at == len(text) or space <= at // 3 else text[:space]


def _last(text: str, most: int) -> str:
    taken, at = 0, len(text)
    while at > 0 and taken + _cells_of(text[at - 1]) <= most:
        at -= 1
        taken += _cells_of(text[at])
    space = text.find(" ", max(0, at - 1))
    return text[at:] if at == 0 or space < 0 or space > (at + 2 * len(text)) // 3 else text[space + 1 :]
