"""Cuts a run of atoms into chunks of like size at the cheapest places."""

from collections.abc import Sequence
from math import inf

from ingestd.chunk.atoms import Atom
from ingestd.chunk.scale import Scale

_OVERSIZE = 1e6


def partition(atoms: Sequence[Atom], scale: Scale, budget: float, goal: float) -> list[tuple[Atom, ...]]:
    """Runs of atoms, each at most ``budget`` unless it is one atom alone.

    Minimises the sum, over the chunks, of the squared relative distance of their size from ``goal`` plus the cost of
    the cut before each but the first. Of equal solutions the one with the later cuts is taken. Time grows with the
    number of atoms times the most atoms that a budget holds.
    """
    count = len(atoms)
    joint, per_token, per_char = scale.joint, scale.per_token, scale.per_char
    sums = [0.0]
    weight = 0.0
    for atom in atoms:
        weight += (atom.tokens + joint) * per_token
        sums.append(weight)
    starts = [atom.start * per_char for atom in atoms]
    ends = [atom.end * per_char for atom in atoms]
    cuts = [0.0, *(atom.cut for atom in atoms[1:])]
    best = [0.0] * (count + 1)
    came_from = [0] * (count + 1)
    low = 0
    for end in range(1, count + 1):
        weight, last = sums[end], ends[end - 1]
        # Sizes only fall as a run begins later, so the first beginning that fits never moves back.
        while low < end - 1 and (weight - sums[low] > budget or last - starts[low] > budget):
            low += 1
        least = inf
        for start in range(low, end):
            # Plain comparisons: this runs some ten times an atom, and a call of max() takes as long as all of it.
            size, chars = weight - sums[start], last - starts[start]
            if chars > size:
                size = chars
            cost = best[start] + ((size - goal) / goal) ** 2 + cuts[start]
            if size > budget:
                cost += _OVERSIZE
            if cost <= least:
                least, came_from[end] = cost, start
        best[end] = least
    return _runs(atoms, came_from)


def _runs(atoms: Sequence[Atom], came_from: Sequence[int]) -> list[tuple[Atom, ...]]:
    runs: list[tuple[Atom, ...]] = []
    end = len(atoms)
    while end:
        runs.append(tuple(atoms[came_from[end] : end]))
        end = came_from[end]
    return runs[::-1]
