"""Says when so much is gone that a person must confirm it."""

MOST_AT_ONCE = 50
"""Removals in one scan that need no question, however small the root: an ordinary clean-up."""
MOST_SHARE = 0.2
"""Share of a root that may go in one scan without a question."""


def mass_removal(removed: int, known: int) -> bool:
    """Whether this many removals out of the sources known are held until someone confirms them."""
    return removed > max(MOST_AT_ONCE, MOST_SHARE * known)


def emptied(removed: int, known: int) -> bool:
    """Whether nothing of the root would be left: held however few its sources were."""
    return 0 < known <= removed
