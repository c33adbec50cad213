"""Vectors of tokens into vectors of chunks."""

import numpy as np

from ingestd.chunk.compat.structure_first.errors import ValidationError
from ingestd.chunk.compat.structure_first.protocols import Matrix


def pooled(rows: object, counts: list[int], wanted: range) -> Matrix:
    """Mean of the rows of each wanted text, shape ``(len(wanted), d)``.

    Parameters
    ----------
    rows
        One for each token, shape ``(tokens, d)``.
    counts
        Rows of each text; they are spread in proportion where their sum is not the number of rows.
    wanted
        Texts whose mean is asked for.

    Raises
    ------
    ValidationError
        When there are too few rows for the texts, or none for a wanted one.
    """
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValidationError(f"embedder.embed_segment returned shape {matrix.shape}; expected (tokens, d)")
    if sum(counts) != len(matrix):
        counts = apportioned(counts, len(matrix))
    places = np.concatenate(([0], np.cumsum(counts)))
    means: list[Matrix] = []
    for index in wanted:
        if not counts[index]:
            raise ValidationError(
                f"embedder.embed_segment returned no rows for text {index}: nothing to take a mean of"
            )
        means.append(matrix[places[index] : places[index + 1]].mean(axis=0))
    return np.stack(means)


def apportioned(counts: list[int], total: int) -> list[int]:
    """Spread a total over texts in proportion to their counts, by largest remainders, with at least one where any is.

    Raises
    ------
    ValidationError
        When the total is too small, or all counts are zero.
    """
    sum_of_counts = sum(counts)
    if not sum_of_counts:
        raise ValidationError(f"embedder.embed_segment counted no tokens for {total} rows")
    shares = [total * count / sum_of_counts for count in counts]
    given = [int(share) for share in shares]
    fractions = [share - whole for share, whole in zip(shares, given, strict=True)]
    by_fraction = sorted(range(len(counts)), key=lambda index: -fractions[index])
    for index in by_fraction[: total - sum(given)]:
        given[index] += 1
    for index, count in enumerate(counts):
        if count and not given[index]:
            given[index] = 1
    surplus = sum(given) - total
    while surplus > 0:
        spare = [index for index in by_fraction if given[index] > 1][:surplus]
        if not spare:
            raise ValidationError(f"embedder.embed_segment returned {total} rows for {len(counts)} texts: too few")
        for index in spare:
            given[index] -= 1
        surplus -= len(spare)
    return given
