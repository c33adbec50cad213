"""Merges small sections below one heading so that an edit moves no cut but those around it.

The cuts between siblings form a tree: the one whose heading has the largest hash is the root, as in a treap. Pieces are
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


def merged(units: Sequence[Unit], headings: Sequence[str], join: Join) -> list[Unit]:
    """Units of one parent, in order, after the joining of small ones; ``headings`` are those that each begins with."""
    done: list[Unit] = []
    stack: list[tuple[Unit | None, int]] = []
    current: Unit | None = units[0]
    seen: Counter[str] = Counter(headings[:1])
    for unit, heading in zip(units[1:], headings[1:], strict=True):
        seen[heading] += 1
        rank = zlib.crc32(f"{heading}\0{seen[heading]}".encode("utf-8", "surrogatepass"))
        while stack and stack[-1][1] < rank:
            current = _combined(stack.pop()[0], current, join, done)
        stack.append((current, rank))
        current = unit
    while stack:
        current = _combined(stack.pop()[0], current, join, done)
    if current is not None:
        done.append(current)
    return sorted(done, key=lambda unit: unit.low)


def _combined(left: Unit | None, right: Unit | None, join: Join, done: list[Unit]) -> Unit | None:
    """The two as one, or ``None`` when they are several for good; those go to ``done``."""
    if left is not None and right is not None:
        both = join(left, right)
        if both is not None:
            return both
    done.extend(unit for unit in (left, right) if unit is not None)
    return None
