"""Chunks that are sections: whole trees of sections where they fit, parts of one section where they do not.

After the structural pass of fancychunk: a section whose whole tree fits is a chunk; of a larger one its own text is a
chunk, or several, and its subsections follow. Every character of the Markdown lies in exactly one chunk.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from ingestd.chunk.atoms import Atom
from ingestd.chunk.bindings import atoms_of, block_atom
from ingestd.chunk.chains import chains
from ingestd.chunk.drafts import Draft
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.partition import partition
from ingestd.chunk.siblings import Sign, Unit, merged

VERSION = 2
"""Raised whenever a boundary moves for any document."""


def structure_first(manuscript: Manuscript) -> Iterator[Draft]:
    """Drafts that tile the document, in order; each is made when it is asked for, since there may be many."""
    units = _merged(manuscript, _units(manuscript))
    large = [unit for unit in units if unit.size == inf]
    spans = [(_own_low(manuscript, unit), unit.high) for unit in large]
    budgets = [(manuscript.budget(unit.section), manuscript.goal(unit.section)) for unit in large]
    ranges = [(*span, *budget) for span, budget in zip(spans, budgets, strict=True)]
    return _drafts(manuscript, units, iter(atoms_of(manuscript, ranges)))


def _drafts(manuscript: Manuscript, units: Sequence[Unit], parts: Iterator[tuple[Atom, ...]]) -> Iterator[Draft]:
    for unit in units:
        if unit.size != inf:
            yield Draft(atoms=_plain(manuscript, unit.low, unit.high), section=unit.section)
            continue
        budget, goal = manuscript.budget(unit.section), manuscript.goal(unit.section)
        runs = partition(next(parts), manuscript.scale, budget, goal)
        heads = _plain(manuscript, unit.low, _own_low(manuscript, unit))
        yield Draft(atoms=heads + runs[0], section=unit.section)
        yield from (Draft(atoms=run, section=unit.section) for run in runs[1:])


_BEGINNING = 12
"""Characters of a section's text that tell it from siblings with the same heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A unit, and the section among whose subsections it may be merged."""

    unit: Unit
    parent: int
    begins: int
    """Section whose heading, or whose text, is at its beginning."""
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
            low = yield from _heads(manuscript, low, number)
            inner = _innermost(manuscript, number, low)
            unit = Unit(low=low, high=section.end, section=inner, size=size)
            yield _Placed(unit=unit, parent=section.parent, begins=number)
            low = section.end
            number = _next_outside(manuscript, number)
            continue
        if number:
            unit = Unit(low=low, high=low, section=number, size=inf)
            yield _Placed(unit=unit, parent=section.parent, begins=number, open=True)
        first, end = manuscript.own(number)
        if first < end:
            low = yield from _heads(manuscript, low, number)
            own = manuscript.size(first, end)
            fits = own <= manuscript.budget(number)
            unit = Unit(low=low, high=end, section=number, size=own if fits else inf)
            yield _Placed(unit=unit, parent=number, begins=number)
            low = end
        number += 1


def _heads(manuscript: Manuscript, low: int, number: int) -> Generator[_Placed, None, int]:
    """Units of the headings before the section that its path has no room for; gives where the section's unit begins."""
    heads = range(low, manuscript.sections[number].first)
    if not heads or not number:
        return low
    for run, section in chains(manuscript, heads, number)[:-1]:
        unit = Unit(low=run[0], high=run[-1] + 1, section=section, size=0.0)
        yield _Placed(unit=unit, parent=0, begins=section)
        low = unit.high
    return low


def _first(manuscript: Manuscript, section: int) -> int:
    return manuscript.own(section)[0]


def _next_outside(manuscript: Manuscript, number: int) -> int:
    """First section after all below this one."""
    end = manuscript.sections[number].end
    number += 1
    while number < len(manuscript.sections) and manuscript.sections[number].first < end:
        number += 1
    return number


def _innermost(manuscript: Manuscript, number: int, low: int) -> int:
    """The section below a chain of headings without text of their own and with one subsection each.

    Its path says all headings from the block ``low`` on.
    """
    sections, top = manuscript.sections, manuscript.section_of[low]
    while True:
        first, end = manuscript.own(number)
        section = sections[number]
        below = number + 1
        if first < end or end == section.end or sections[below].end != section.end:
            return number
        if not manuscript.paths.shown(below).says(range(top, below + 1)):
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
        signs = [_sign(manuscript, each.begins) for each in members]
        joined = merged([each.unit for each in members], signs, partial(_joined, manuscript, parent))
        units.extend(unit for unit in joined if unit.low < unit.high)
    return sorted(units, key=lambda unit: unit.low)


def _sign(manuscript: Manuscript, number: int) -> Sign:
    section = manuscript.sections[number]
    if section.first + 1 >= section.own_end:
        return Sign(heading=section.line, beginning="", text="")
    start = manuscript.blocks[section.first + 1].start
    text = manuscript.markdown[start : manuscript.blocks[section.own_end - 1].end]
    return Sign(heading=section.line, beginning=text[:_BEGINNING], text=text)


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
