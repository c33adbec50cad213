"""Where a text may be cut without cutting a character that a reader sees.

The rules of UAX #29, on the safe side: where the Unicode tables of the standard library do not tell a mark's exact
class, the cut is refused, so that a cluster is never cut and two may stay together.
"""

import unicodedata

_JOINER = "\u200d"
_INVISIBLE = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
_PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd")
_MARKS = frozenset({"Mn", "Me", "Mc"})
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
_VIRAMA = 9
REACH = 1024
"""Characters that are searched for a boundary on each side; no cluster in real text comes near it."""


def boundary(text: str, at: int, low: int, high: int) -> int:
    """Cluster boundary nearest below ``at``, else above it, strictly inside ``(low, high)``.

    Parameters
    ----------
    low
        A known boundary: nothing before it is looked at, so that a long run of flags costs one scan.

    Returns
    -------
    int
        ``at`` itself when no boundary is within :data:`REACH`: the cluster is longer than any budget.
    """
    for position in range(at, max(low, at - REACH), -1):
        if is_boundary(text, position, low):
            return position
    for position in range(at + 1, min(high, at + REACH)):
        if is_boundary(text, position, low):
            return position
    return at


def is_boundary(text: str, at: int, low: int = 0) -> bool:
    """Whether the text may be cut before ``at``; ``low`` is a known boundary at or before it."""
    if at <= low or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n")
    if unicodedata.category(before) in _CONTROLS or unicodedata.category(after) in _CONTROLS:
        return True
    if _extends(after) or _attaches(before, after):
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, at, low) % 2 == 0
    return not (_is_hangul(before) and _continues_hangul(before, after))


def _extends(character: str) -> bool:
    return (
        character in _INVISIBLE
        or unicodedata.category(character) in _MARKS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _attaches(before: str, after: str) -> bool:
    """Whether the character before takes the one after into its cluster."""
    conjunct = unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo"
    return conjunct or before == _JOINER or before in _PREPENDED


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int, low: int) -> int:
    start = at
    while start > low and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


def _is_hangul(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\ua960" <= character <= "\ua97c" or "\uac00" <= character <= "\ud7fb"


def _continues_hangul(before: str, after: str) -> bool:
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7fb":
        return True
    leading = "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"
    return leading and _is_hangul(after)
