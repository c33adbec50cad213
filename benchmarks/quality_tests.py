"""Paired comparison of two chunkers, question by question."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DRAWS = 10_000
SEED = 20261201


def difference(mine: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """Mean difference and its two-sided p value, by flipping the signs of the questions' differences at random.

    Under the hypothesis that both are alike, each question's difference could as well have had the other sign.
    """
    differences = mine - other
    observed = float(differences.mean())
    changed = differences[differences != 0]
    if not len(changed):
        return observed, 1.0
    signs = np.random.default_rng(SEED).integers(0, 2, (DRAWS, len(changed)), np.int8) * 2 - 1
    drawn = np.abs(signs @ changed) / len(differences)
    # The drawing that was observed counts as one of them, so that no p value is zero.
    return observed, float((1 + np.count_nonzero(drawn >= abs(observed) - 1e-12)) / (1 + DRAWS))


def holm(values: Sequence[float]) -> list[float]:
    """P values corrected for their number by Holm's step-down method, in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = largest
    return corrected
