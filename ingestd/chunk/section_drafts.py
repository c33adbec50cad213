"""Chunks that are sections: whole trees of sections where they fit, parts of one section where they do not.

After the structural pass of fancychunk: a section whose whole tree fits is a chunk; of a larger one its own text is a
chunk, or several, and its subsections follow. Every character of the Markdown lies in exactly one chunk.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf

from ingestd.chunk.atoms import Atom
from ingestd.chunk.bindings import atoms_of, block_atom
from ingestd.chunk.drafts import Draft
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.partition import partition
from ingestd.chunk.siblings import Unit, merged

VERSION = 2
"""Raised whenever a boundary moves for any document."""


def structure_first(manuscript: Manuscript) -> list[Draft]:
    """Drafts that tile the document, in order."""
    units = _merged(manuscript, _units(manuscript))
    large = [unit for unit in units if unit.size == inf]
    spans = [(_own_low(manuscript, unit), unit.high) for unit in large]
    budgets = [(manuscript.budget(unit.section), manuscript.goal(unit.section)) for unit in large]
    ranges = [(*span, *budget) for span, budget in zip(spans, budgets, strict=True)]
    parts = {unit.low: atoms for unit, atoms in zip(large, atoms_of(manuscript, ranges), strict=True)}
    drafts: list[Draft] = []
    for unit in units:
        if unit.size != inf:
            drafts.append(Draft(atoms=_plain(manuscript, unit.low, unit.high), section=unit.section))
            continue
        budget, goal = manuscript.budget(unit.section), manuscript.goal(unit.section)
        runs = partition(parts[unit.low], manuscript.scale, budget, goal)
        heads = _plain(manuscript, unit.low, _own_low(manuscript, unit))
        drafts.append(Draft(atoms=heads + runs[0], section=unit.section))
        drafts.extend(Draft(atoms=run, section=unit.section) for run in runs[1:])
    return drafts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A unit, and the section among whose subsections it may be merged."""

    unit: Unit
    parent: int
    heading: str
    open: bool = False
    """It stands only for the place of a section that is in several units."""


def _units(manuscript: Manuscript) -> Iterator[_Placed]:
    """Largest units that fit, in order; a heading without a text of its own goes with what follows it."""
    sections = manuscript.sections
    number, low = 0, 0
    while number < len(sections):
        section = sections[number]
        size = manuscript.size(_first(manuscript, number), section.end)
        if number and size <= manuscript.budget(number):
            inner = _innermost(manuscript, number)
            unit = Unit(low=low, high=section.end, section=inner, size=size)
            yield _Placed(unit=unit, parent=section.parent, heading=section.line)
            low = section.end
            number = _next_outside(manuscript, number)
            continue
        if number:
            unit = Unit(low=low, high=low, section=number, size=inf)
            yield _Placed(unit=unit, parent=section.parent, heading=section.line, open=True)
        first, end = manuscript.own(number)
        if first < end:
            own = manuscript.size(first, end)
            fits = own <= manuscript.budget(number)
            unit = Unit(low=low, high=end, section=number, size=own if fits else inf)
            yield _Placed(unit=unit, parent=number, heading=section.line)
            low = end
        number += 1


def _first(manuscript: Manuscript, section: int) -> int:
    return manuscript.own(section)[0]


def _next_outside(manuscript: Manuscript, number: int) -> int:
    """First section after all below this one."""
    end = manuscript.sections[number].end
    number += 1
    while number < len(manuscript.sections) and manuscript.sections[number].first < end:
        number += 1
    return number


def _innermost(manuscript: Manuscript, number: int) -> int:
    """The section below a chain of headings without text of their own and with one subsection each."""
    sections = manuscript.sections
    while True:
        first, end = manuscript.own(number)
        section = sections[number]
        below = number + 1
        if first < end or end == section.end or sections[below].end != section.end:
            return number
        number = below


def _merged(manuscript: Manuscript, placed: Iterator[_Placed]) -> list[Unit]:
    """Units in order, small ones below the same heading joined."""
    families: dict[int, list[_Placed]] = {}
    for each in placed:
        families.setdefault(each.parent, []).append(each)
    units: list[Unit] = []
    for parent, members in families.items():
        if parent == 0:
            units.extend(each.unit for each in members if not each.open)
            continue
        headings = [each.heading for each in members]
        joined = merged([each.unit for each in members], headings, partial(_joined, manuscript, parent))
        units.extend(unit for unit in joined if unit.low < unit.high)
    return sorted(units, key=lambda unit: unit.low)


def _joined(manuscript: Manuscript, parent: int, left: Unit, right: Unit) -> Unit | None:
    scale = manuscript.scale
    if inf in (left.size, right.size):
        return None
    overhead = scale.cap - manuscript.budget(parent)
    if min(left.size, right.size) + overhead >= scale.floor:
        return None
    low = max(left.low, manuscript.sections[parent].first + 1)
    size = manuscript.size(low, right.high)
    if size > manuscript.budget(parent):
        return None
    return Unit(low=left.low, high=right.high, section=parent, size=size)


def _own_low(manuscript: Manuscript, unit: Unit) -> int:
    return max(unit.low, manuscript.own(unit.section)[0])


def _plain(manuscript: Manuscript, low: int, high: int) -> tuple[Atom, ...]:
    return tuple(block_atom(manuscript, block) for block in range(low, high))
