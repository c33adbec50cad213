"""Chunks that grow block by block inside one section.

After grain-growth chunking: a chunk takes the next block whole until it has the size asked for. A heading ends it
whatever its size; tables and captions stand alone; formulas stay whole. Chunks of one split paragraph overlap by a
sentence. Authors' names are skipped.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ingestd.chunk.atoms import BETWEEN_BLOCKS, BOUND, Atom
from ingestd.chunk.bindings import atoms_of, block_atom
from ingestd.chunk.chains import chains
from ingestd.chunk.drafts import Draft
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.outline import HEADINGS
from ingestd.chunk.partition import partition
from ingestd.model.document import BlockType

VERSION = 2
"""Raised whenever a boundary moves for any document."""

_STANDALONE = frozenset({BlockType.TABLE, BlockType.CAPTION})
_UNBROKEN = frozenset({BlockType.TABLE, BlockType.CODE, BlockType.LIST, BlockType.FORMULA, *HEADINGS})
"""Parts of these do not overlap."""
_OVERLAP = 3
"""A sentence is said again when it takes at most this part of the budget: one third."""

_Run = tuple[Atom, ...]


def grain_growth(manuscript: Manuscript) -> Iterator[Draft]:
    """Drafts in order, each made when it is asked for; what was skipped lies between them."""
    sections = range(len(manuscript.sections))
    owns = [manuscript.own(section) for section in sections]
    ranges = [
        (*own, manuscript.budget(section), manuscript.goal(section))
        for section, own in zip(sections, owns, strict=True)
    ]
    return _drafts(manuscript, owns, atoms_of(manuscript, ranges))


def _drafts(manuscript: Manuscript, owns: Sequence[tuple[int, int]], parts: Sequence[_Run]) -> Iterator[Draft]:
    heads: list[int] = []
    for section, (own, atoms) in enumerate(zip(owns, parts, strict=True)):
        it = manuscript.sections[section]
        if section and manuscript.in_path(section):
            heads.append(it.first)
        if own[0] == own[1] and own[1] < it.end:
            continue
        runs: list[_Run] = list(_grains(manuscript, section, atoms)) if atoms else [()]
        for run, within in chains(manuscript, heads, section)[:-1]:
            yield Draft(atoms=tuple(block_atom(manuscript, block) for block in run), section=within)
            del heads[: len(run)]
        runs[0] = (*(block_atom(manuscript, block) for block in heads), *runs[0])
        heads.clear()
        yield from (Draft(atoms=run, section=section) for run in runs if run)


def _grains(manuscript: Manuscript, section: int, atoms: _Run) -> Iterator[_Run]:
    """Chunks of a section's own blocks: what stands alone apart, the rest grown."""
    for alone, parts in groupby(_bound(atoms), key=lambda part: _stands_alone(manuscript, part)):
        if alone:
            for part in parts:
                yield from _fitted(manuscript, section, part, manuscript.budget(section))
        else:
            yield from _grown(manuscript, section, list(parts))


def _bound(atoms: _Run) -> Iterator[_Run]:
    """Atoms that belong together: parts of one block, or blocks bound to each other."""
    start = 0
    for index in range(1, len(atoms) + 1):
        if index < len(atoms):
            atom = atoms[index]
            continued = atom.block == atoms[index - 1].block
            if not (_leads(atoms, index) if continued else atom.cut < BOUND):
                continue
        yield atoms[start:index]
        start = index


def _leads(atoms: _Run, index: int) -> bool:
    """Whether the atom is a paragraph's last sentence, bound to the formula after it."""
    return index + 1 < len(atoms) and atoms[index + 1].cut == BOUND and atoms[index + 1].block != atoms[index].block


def _stands_alone(manuscript: Manuscript, part: _Run) -> bool:
    return any(manuscript.blocks[block].type in _STANDALONE for block in {atom.block for atom in part})


def _fitted(manuscript: Manuscript, section: int, atoms: _Run, goal: float) -> list[_Run]:
    """The atoms in as many runs as the budget asks for."""
    budget = manuscript.budget(section)
    if _size(manuscript, atoms) <= budget:
        return [atoms]
    return partition(atoms, manuscript.scale, budget, goal)


def _grown(manuscript: Manuscript, section: int, parts: Sequence[_Run]) -> list[_Run]:
    """Next-fit: a part that does not fit the chunk in growth closes it for good."""
    budget, goal = manuscript.budget(section), manuscript.goal(section)
    grains: list[_Run] = []
    current: _Run = ()
    for part in parts:
        for run in _fitted(manuscript, section, part, goal):
            if current and not _accepted(manuscript, current, run, budget, goal):
                grains.append(current)
                current = _overlapping(manuscript, current, run, budget)
            else:
                current += run
    grains.append(current)
    return _without_stub(manuscript, section, grains)


def _accepted(manuscript: Manuscript, current: _Run, run: _Run, budget: float, goal: float) -> bool:
    """Whether the chunk grows by the run: when that brings it nearer to the goal, or it ends in mid-sentence.

    A part of a block and what is not of that block are joined only where the chunk would be below the least size.
    """
    size, grown = _size(manuscript, current), _size(manuscript, current + run)
    if grown > budget:
        return False
    if current[-1].block != run[0].block:
        if run[0].cut > BETWEEN_BLOCKS:
            return True
        if size >= manuscript.scale.floor and _mixed(manuscript, current, run):
            return False
    return abs(grown - goal) < abs(goal - size)


def _mixed(manuscript: Manuscript, current: _Run, run: _Run) -> bool:
    """Whether the chunk begins inside its last block, or the run ends inside its first."""
    last, first = manuscript.blocks[current[-1].block], manuscript.blocks[run[0].block]
    return current[0].start > last.start or run[-1].end < first.end


def _overlapping(manuscript: Manuscript, before: _Run, run: _Run, budget: float) -> _Run:
    """The run with the last sentence before it, when both are of one paragraph."""
    last = before[-1]
    same = last.block == run[0].block and manuscript.blocks[last.block].type not in _UNBROKEN
    if not same or _size(manuscript, (last,)) > budget / _OVERLAP or _size(manuscript, (last, *run)) > budget:
        return run
    return (last, *run)


def _without_stub(manuscript: Manuscript, section: int, grains: list[_Run]) -> list[_Run]:
    """A last grain below the least size goes to the one before it, where both fit together."""
    if len(grains) < 2 or _size(manuscript, grains[-1]) >= manuscript.scale.floor:
        return grains
    said = {atom.start for atom in grains[-2]}
    whole = grains[-2] + tuple(atom for atom in grains[-1] if atom.start not in said)
    if _size(manuscript, whole) > manuscript.budget(section):
        return grains
    return [*grains[:-2], whole]


def _size(manuscript: Manuscript, atoms: _Run) -> float:
    if not atoms:
        return 0.0
    scale = manuscript.scale
    tokens = sum([atom.tokens for atom in atoms]) + scale.joint * len(atoms)
    return max(tokens * scale.per_token, (atoms[-1].end - atoms[0].start) * scale.per_char)
