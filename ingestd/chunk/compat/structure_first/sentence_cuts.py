"""The best places to end sentences.

A cut after a character gains its probability less a threshold; every piece has a least and a most length. Best are the cuts
with the greatest sum; of equal ones those whose pieces, from the last to the first, begin earliest.
"""

from array import array
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.compat.structure_first.constants import BOUNDARY_SCORE_THRESHOLD
from ingestd.chunk.compat.structure_first.errors import UnsplittableDocumentError
from ingestd.chunk.compat.structure_first.protocols import Vector

_CLEARLY = 1e-9
"""A probability this close below the threshold may cost nothing in floating point."""


def sentence_cuts(probabilities: Vector, least: int, most: int) -> list[int]:
    """Ends of the sentences, the text's end last.

    Parameters
    ----------
    probabilities
        Of a sentence's end after each character, shape ``(n,)``, between 0 and 1.
    least, most
        Characters of a sentence.

    Raises
    ------
    UnsplittableDocumentError
        When no pieces have these lengths.
    """
    size = len(probabilities)
    if least == 0:
        return _unweighed(size, most)
    worthwhile = _worthwhile(probabilities, least, most)
    if worthwhile is not None:
        cuts = _among(worthwhile, probabilities, least, most)
        if cuts is not None:
            return cuts
    return _anywhere(probabilities, least, most)


def _unweighed(size: int, most: int) -> list[int]:
    """What the seed gives where sentences may be empty: full lengths from the end on, probabilities unheard."""
    cuts = [size]
    while cuts[-1] > most:
        cuts.append(cuts[-1] - most)
    return cuts[::-1]


def _worthwhile(probabilities: Vector, least: int, most: int) -> NDArray[np.intp] | None:
    """Ends that do not cost; nothing where some that cost may have to be taken."""
    size = len(probabilities)
    ends = np.flatnonzero(probabilities[: size - 1] >= BOUNDARY_SCORE_THRESHOLD - _CLEARLY) + 1
    if np.any(probabilities[ends - 1] < BOUNDARY_SCORE_THRESHOLD):
        return None
    if most < size and np.diff(ends, prepend=0, append=size).max() + 2 * least > most:
        return None
    return ends


def _among(ends: NDArray[np.intp], probabilities: Vector, least: int, most: int) -> list[int] | None:
    """The best cuts of these ends, if there are any."""
    size = len(probabilities)
    places = array("q", np.concatenate(([0], ends, [size])).astype(np.int64).tobytes())
    gains = array("d", np.concatenate(([0.0], probabilities[ends - 1] - BOUNDARY_SCORE_THRESHOLD, [0.0])).tobytes())
    best = array("d", [0.0])
    before = array("q", [-1])
    window: deque[int] = deque()
    entering = 0
    for index in range(1, len(places)):
        place = places[index]
        while places[entering] <= place - least:
            if before[entering] >= 0 or entering == 0:
                while window and best[window[-1]] < best[entering]:
                    window.pop()
                window.append(entering)
            entering += 1
        while window and places[window[0]] < place - most:
            window.popleft()
        best.append(best[window[0]] + gains[index] if window else 0.0)
        before.append(window[0] if window else -1)
    index = len(places) - 1
    if before[index] < 0:
        return None
    cuts: list[int] = []
    while index:
        cuts.append(places[index])
        index = before[index]
    return cuts[::-1]


@dataclass(slots=True)
class _Stretch:
    """Ends that are worth the same, each reached from the earliest place of one other stretch that its length allows."""

    first: int
    last: int
    worth: float
    source: int
    """First place of the stretch that these ends are reached from."""


def _anywhere(probabilities: Vector, least: int, most: int) -> list[int]:
    """The best cuts of all, worked out for whole stretches of equal probabilities at once."""
    size = len(probabilities)
    run_ends, run_gains = _runs(probabilities)
    stretches = [_Stretch(0, 0, 0.0, 0)]
    window: deque[_Stretch] = deque()
    entered = run = 0
    end = least
    while end <= size:
        entered = _enter(window, stretches, entered, end - least)
        while window and window[0].last < end - most:
            window.popleft()
        if not window:
            if entered == len(stretches):
                break
            end = stretches[entered].first + least
            continue
        while run_ends[run] < end:
            run += 1
        source = window[0]
        last = min(run_ends[run], source.last + most)
        if run_gains[run] > 0:
            last = min(last, end + least - 1)
        last = _before_better(stretches, entered, source.worth, last - least) + least
        stretches.append(_Stretch(end, last, source.worth + run_gains[run], source.first))
        end = last + 1
    if stretches[-1].last < size:
        raise UnsplittableDocumentError(
            f"no sentences of {least} to {most} characters (min_len, max_len) make up a text of {size}: raise max_len"
        )
    return _traced(stretches, size, most)


def _runs(probabilities: Vector) -> tuple[list[int], list[float]]:
    """Last end of each run of ends that gain the same, and what they gain; the text's end is a run of its own."""
    size = len(probabilities)
    changes = np.flatnonzero(probabilities[1 : size - 1] != probabilities[: size - 2]) + 1
    firsts = np.concatenate((np.zeros(1, dtype=np.intp), changes))
    gains: Vector = probabilities[firsts] - BOUNDARY_SCORE_THRESHOLD
    return [*changes.tolist(), size - 1, size], [*gains.tolist(), 0.0]


def _enter(window: deque[_Stretch], stretches: list[_Stretch], entered: int, place: int) -> int:
    """Let in the stretches that begin up to a place; those are thrown out that are worth less than a later one."""
    while entered < len(stretches) and stretches[entered].first <= place:
        stretch = stretches[entered]
        while window and window[-1].worth < stretch.worth:
            window.pop()
        window.append(stretch)
        entered += 1
    return entered


def _before_better(stretches: list[_Stretch], entered: int, worth: float, place: int) -> int:
    """The place, or where a stretch that is worth more begins, less one, if that comes before."""
    for index in range(entered, len(stretches)):
        if stretches[index].first > place:
            break
        if stretches[index].worth > worth:
            return stretches[index].first - 1
    return place


def _traced(stretches: list[_Stretch], size: int, most: int) -> list[int]:
    firsts = [stretch.first for stretch in stretches]
    cuts = [size]
    while True:
        stretch = stretches[bisect_right(firsts, cuts[-1]) - 1]
        place = max(stretch.source, cuts[-1] - most)
        if not place:
            return cuts[::-1]
        cuts.append(place)
