"""Headings without a text of their own, and the chunk that says each of them."""

from collections.abc import Sequence

from ingestd.chunk.manuscript import Manuscript


def chains(manuscript: Manuscript, heads: Sequence[int], section: int) -> list[tuple[Sequence[int], int]]:
    """Runs of headings with the section that each goes with, in order; the last goes with ``section``.

    A crowded path leaves its outermost headings out. Those of them that have no chunk of their own go with the
    innermost one among them, so that each heading stands in some text.

    Parameters
    ----------
    heads
        Kept blocks right before the section: headings, each below the one before it and whole in its own path.
    """
    found: list[tuple[Sequence[int], int]] = []
    end, goes_with = len(heads), section
    while True:
        whole = manuscript.paths.shown(goes_with).whole
        start = end
        while start and manuscript.section_of[heads[start - 1]] in whole:
            start -= 1
        found.append((heads[start:end], goes_with))
        if not start:
            return found[::-1]
        end, goes_with = start, manuscript.section_of[heads[start - 1]]
