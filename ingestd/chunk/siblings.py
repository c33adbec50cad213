"""Merges small sections below one heading so that an edit moves no cut but those around it.

The cuts between siblings form a tree: the one whose section has the largest hash is the root, as in a treap. Pieces are
joined from the leaves up, and whether two are joined depends on what they hold alone. A section that grows, shrinks,
comes or goes therefore moves only cuts of pieces that hold it.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A range of kept blocks that stays together."""

    low: int
    high: int
    section: int
    """Innermost section that holds all of it."""
    size: float
    """Of its blocks, without a path; infinite when it is in pieces already and can be joined to nothing."""


Join = Callable[[Unit, Unit], Unit | None]
"""The two neighbours as one, or ``None`` where they stay apart."""

_Rank = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """What tells a section from its siblings."""

    heading: str
    """No edit of its text changes it."""
    beginning: str
    """How its text begins, which what is added at its end does not change: decides between siblings of one heading."""
    text: str
    """All of its own text: decides only where siblings begin alike."""


def merged(units: Sequence[Unit], signs: Sequence[Sign], join: Join) -> list[Unit]:
    """Units of one parent, in order, after the joining of small ones; ``signs`` are of the sections they begin with."""
    done: list[Unit] = []
    stack: list[tuple[Unit | None, _Rank]] = []
    current: Unit | None = units[0]
    seen: Counter[tuple[int, int, int]] = Counter()
    _rank(signs[0], seen)
    for unit, sign in zip(units[1:], signs[1:], strict=True):
        rank = _rank(sign, seen)
        while stack and stack[-1][1] < rank:
            current = _combined(stack.pop()[0], current, join, done)
        stack.append((current, rank))
        current = unit
    while stack:
        current = _combined(stack.pop()[0], current, join, done)
    if current is not None:
        done.append(current)
    return sorted(done, key=lambda unit: unit.low)


def _rank(sign: Sign, seen: Counter[tuple[int, int, int]]) -> _Rank:
    """Of sections that are the same in all, the last one's depends on how many there are."""
    same = (_hash(sign.heading), _hash(sign.beginning), _hash(sign.text))
    seen[same] += 1
    return (*same, _hash(str(seen[same])))


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _combined(left: Unit | None, right: Unit | None, join: Join, done: list[Unit]) -> Unit | None:
    """The two as one, or ``None`` when they are several for good; those go to ``done``."""
    if left is not None and right is not None:
        both = join(left, right)
        if both is not None:
            return both
    done.extend(unit for unit in (left, right) if unit is not None)
    return None
