"""When to try again."""

from collections.abc import Callable

FIRST_SECONDS = 10.0
FACTOR = 4.0
LONGEST_SECONDS = 6 * 3600.0
MOST_ATTEMPTS_OF_A_BUG = 3
"""An unexpected exception is a bug of ours: the same file is not thrown at it for ever."""
MOST_CRASHES = 3
"""Claims in a row that ended with the death of this process, the last ones with nothing else in work."""


def delay_seconds(attempts: int, random: Callable[[], float]) -> float:
    """Back-off with full jitter after so many attempts: between half of the step and the whole of it.

    Parameters
    ----------
    attempts
        At least 1.
    random
        Gives a number in ``[0, 1)``.
    """
    step = min(FIRST_SECONDS * FACTOR ** min(attempts - 1, 20), LONGEST_SECONDS)
    return step * (0.5 + 0.5 * random())
