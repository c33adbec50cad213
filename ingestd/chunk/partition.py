"""Cuts a run of atoms into chunks of like size at the cheapest places."""

from collections.abc import Sequence
from math import inf

from ingestd.chunk.atoms import BETWEEN_PARAGRAPHS, Atom
from ingestd.chunk.scale import Scale

MIXED = 0.5
"""Cost of a chunk that holds a part of a paragraph together with text from beyond its end, and of one from before it.

The sentence that opens a paragraph says what it is about; in a chunk that begins with the end of another it is not found.
"""
_OVERSIZE = 1e6


def partition(atoms: Sequence[Atom], scale: Scale, budget: float, goal: float) -> list[tuple[Atom, ...]]:
    """Runs of atoms, each at most ``budget`` unless it is one atom alone.

    Minimises the sum, over the chunks, of the squared relative distance of their size from ``goal`` plus the cost of
    the cut before each but the first, and :data:`MIXED` for each end of a chunk of several paragraphs that lies inside
    one. Of equal solutions the one with the later cuts is taken. Time grows with the number of atoms times the most
    atoms that a budget holds.
    """
    joint, per_token, per_char = scale.joint, scale.per_token, scale.per_char
    came_from = [0]
    # Of each beginning of a run: its number, the least cost of all before it, their tokens, its first character in the
    # unit, the cost of a cut there, and that where the run goes on beyond the paragraph. Plain numbers: the inner loop runs
    # some ten times an atom.
    begins: list[tuple[int, float, float, float, float, float]] = []
    low, weight, best, opened = 0, 0.0, 0.0, 0
    inside = [atom.cut > BETWEEN_PARAGRAPHS for atom in atoms[1:]] + [False]
    for number, atom in enumerate(atoms):
        cut = atom.cut if number else 0.0
        begins_inside = number > 0 and inside[number - 1]
        opened = opened if begins_inside else number
        begins.append((number, best, weight, atom.start * per_char, cut, cut + MIXED if begins_inside else cut))
        ends_inside = MIXED if inside[number] else 0.0
        weight += (atom.tokens + joint) * per_token
        last = atom.end * per_char
        # Sizes only fall as a run begins later, so the first beginning that fits never moves back.
        while low < number and (weight - begins[low][2] > budget or last - begins[low][3] > budget):
            low += 1
        candidates = begins[low:]
        bound = min([begin[1] for begin in candidates])
        best, origin = inf, low
        for start, before, tokens, first, cut, mixed in candidates:
            size, chars = weight - tokens, last - first
            if chars > size:  # noqa: PLR1730  # a call of max() takes as long as the rest of the loop
                size = chars
            off = (size - goal) / goal
            # A product, not a power: it is rounded alike on every platform.
            cost = before + off * off + (cut if start >= opened else mixed + ends_inside)
            if cost <= best:
                best, origin = cost, start
            elif size < goal and bound + off * off > best:
                break
        if low == number and max(weight - begins[low][2], last - begins[low][3]) > budget:
            best += _OVERSIZE
        came_from.append(origin)
    return _runs(atoms, came_from)


def _runs(atoms: Sequence[Atom], came_from: Sequence[int]) -> list[tuple[Atom, ...]]:
    runs: list[tuple[Atom, ...]] = []
    end = len(atoms)
    while end:
        runs.append(tuple(atoms[came_from[end] : end]))
        end = came_from[end]
    return runs[::-1]
