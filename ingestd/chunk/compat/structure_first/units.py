"""A document into units: whole sections where they fit, the text of one section where they do not."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ingestd.chunk.compat.structure_first.constants import DEFAULT_MAX_SIZE_CHARS, MIN_CHUNK_FRACTION
from ingestd.chunk.compat.structure_first.errors import ValidationError

_HEADING = re.compile(r"(#{1,6})(?=\s|\Z)[^\n]?([^\n]*)")
"""Once it is known to begin a line; a literal first character makes the search fast."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A range of a document, characters half open.

    Parameters
    ----------
    needs_model
        It is too large for a chunk, or may be.
    fold_forward
        It is the introduction of a section with subsections.
    """

    start: int
    end: int
    needs_model: bool
    fold_forward: bool

    @property
    def size(self) -> int:
        """Characters."""
        return self.end - self.start


def plan_units(document: str, max_size: int = DEFAULT_MAX_SIZE_CHARS, *, min_size: int | None = None) -> list[Unit]:
    """Units that tile a document.

    Parameters
    ----------
    document
        Markdown. Only lines that begin with one to six ``#`` are headings, even in code.
    max_size
        Characters of a chunk; what is larger needs the segmenter and the embedder.
    min_size
        Units with fewer characters are joined to a neighbour where both fit; 0 keeps all, and nothing means 0.35 of
        ``max_size``.

    Raises
    ------
    ValidationError
        When ``max_size`` is not positive.
    """
    if max_size <= 0:
        raise ValidationError(f"max_size must be positive, got {max_size}")
    least = int(MIN_CHUNK_FRACTION * max_size) if min_size is None else min_size
    units = _bare_joined(document, _planned(document, max_size), max_size)
    if least > 0:
        units = _small_joined(_introductions_joined(units, least, max_size), least, max_size)
    return units


def _planned(document: str, max_size: int) -> Iterator[Unit]:
    """Largest whole sections that fit, and the own text of those that do not."""
    starts, levels = _sections(document)
    preamble = starts[0] if starts else len(document)
    if preamble:
        yield Unit(0, preamble, preamble > max_size, fold_forward=False)
    ends = _subtree_ends(levels)
    starts.append(len(document))
    number = 0
    while number < len(levels):
        start, below = starts[number], number + 1
        if starts[ends[number]] - start <= max_size:
            yield Unit(start, starts[ends[number]], needs_model=False, fold_forward=False)
            number = ends[number]
            continue
        yield Unit(start, starts[below], starts[below] - start > max_size, fold_forward=below < ends[number])
        number = below


def _sections(document: str) -> tuple[list[int], list[int]]:
    """Where each heading stands, and its level; a literal `` ::: `` in it takes it one level deeper."""
    starts: list[int] = []
    levels: list[int] = []
    for match in _HEADING.finditer(document):
        start = match.start()
        if not start or document[start - 1] == "\n":
            starts.append(start)
            levels.append(len(match[1]) + match[2].count(" ::: "))
    return starts, levels


def _subtree_ends(levels: list[int]) -> list[int]:
    """For each section the next one that is not below it."""
    ends = [len(levels)] * len(levels)
    pending: list[int] = []
    for number, level in enumerate(levels):
        while pending and levels[pending[-1]] >= level:
            ends[pending.pop()] = number
        pending.append(number)
    return ends


def _bare_joined(document: str, units: Iterable[Unit], max_size: int) -> list[Unit]:
    """Headings without text go with what follows, the last ones with what is before if that fits."""
    joined: list[Unit] = []
    pending: Unit | None = None
    for following in units:
        unit = _prepended(pending, following, max_size) if pending else following
        pending = None
        if unit.size < max_size and _is_bare(document, unit):
            pending = unit
        else:
            joined.append(unit)
    if pending:
        _append(joined, pending, max_size, fits=True)
    return joined


def _is_bare(document: str, unit: Unit) -> bool:
    return all(_is_heading(line) for line in document[unit.start : unit.end].splitlines() if line.strip())


def _is_heading(line: str) -> bool:
    return _HEADING.match(line) is not None


def _introductions_joined(units: list[Unit], least: int, max_size: int) -> list[Unit]:
    """Small introductions go with their first subsection."""
    joined: list[Unit] = []
    pending: Unit | None = None
    for following in units:
        unit = _prepended(pending, following, max_size) if pending else following
        pending = None
        if unit.fold_forward and unit.size < least:
            pending = unit
        else:
            joined.append(unit)
    if pending:
        joined.append(pending)
    return joined


def _small_joined(units: list[Unit], least: int, max_size: int) -> list[Unit]:
    """Small units go with the next, or else with the one before, where both fit."""
    if not units:
        return []
    joined: list[Unit] = []
    current = units[0]
    for following in units[1:]:
        if current.size < least and following.end - current.start <= max_size:
            needs_model = current.needs_model or following.needs_model
            current = Unit(current.start, following.end, needs_model, fold_forward=False)
        else:
            _append(joined, current, max_size, fits=current.size < least)
            current = following
    _append(joined, current, max_size, fits=current.size < least)
    return joined


def _prepended(unit: Unit, following: Unit, max_size: int) -> Unit:
    too_large = following.end - unit.start > max_size
    needs_model = unit.needs_model or following.needs_model or too_large
    return replace(following, start=unit.start, needs_model=needs_model)


def _append(units: list[Unit], unit: Unit, max_size: int, *, fits: bool) -> None:
    """Add a unit, to the one before if it may and both fit."""
    if fits and units and unit.end - units[-1].start <= max_size:
        before = units.pop()
        unit = Unit(before.start, unit.end, before.needs_model or unit.needs_model, fold_forward=False)
    units.append(unit)
