"""Bars of tildes around formulas and tables."""

import re

FENCE_CHAR = "~"
FENCED_INLINE: set[str] = {"formula"}
"""Fenced inside a chunk."""
FENCED_STANDALONE: set[str] = {"table"}
"""Fenced in a chunk of their own."""
FENCED_TYPES: set[str] = FENCED_INLINE | FENCED_STANDALONE

_SHORTEST = 3
_BAR = FENCE_CHAR * _SHORTEST
_BARS = re.compile(r"^~{3,}", re.MULTILINE)
_BARE = re.compile(r"~{3,}\s*\Z")
_GAPS = re.compile(r"\n{3,}")


def fence(block_type: str, text: str, part: int | None = None, of: int | None = None) -> str:
    """The text between two bars, longer than any bar at the start of one of its lines; the first carries the type.

    Parameters
    ----------
    part, of
        Written after the type when there are more parts than one.
    """
    longest = max(map(len, _BARS.findall(text)), default=0) if _BAR in text else 0
    bar = FENCE_CHAR * max(_SHORTEST, longest + 1)
    label = f"{block_type} part {part} of {of}" if of and of > 1 else block_type
    return f"{bar}{label}\n{text}\n{bar}"


def strip_fences(text: str) -> str:
    """The text without its fences and what they hold; one that is never closed takes all the rest."""
    kept, _ = _outside(text)
    return _GAPS.sub("\n\n", "\n".join(kept)).strip()


def fences_balanced(text: str) -> bool:
    """Whether every fence that opens is closed."""
    _, is_open = _outside(text)
    return not is_open


def has_fence(text: str) -> bool:
    """Whether a line begins with a bar."""
    return _BARS.search(text) is not None


def starts_inside_fence(text: str) -> bool:
    """Whether the first bar closes a fence that an earlier text opened: it carries no type."""
    first = _BARS.search(text)
    return first is not None and is_bare_bar(text[first.start() :].split("\n", 1)[0])


def is_bare_bar(line: str) -> bool:
    """Whether the line is a bar alone."""
    return _BARE.match(line) is not None


def _outside(text: str) -> tuple[list[str], bool]:
    """Lines outside of fences; whether one is open at the end."""
    kept: list[str] = []
    bar = ""
    for line in text.split("\n"):
        if not line.startswith(_BAR):
            if not bar:
                kept.append(line)
        elif not bar:
            bar = FENCE_CHAR * (len(line) - len(line.lstrip(FENCE_CHAR)))
        elif line.strip() == bar:
            bar = ""
    return kept, bool(bar)
