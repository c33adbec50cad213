"""The vector of one query."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.embed.named import embedder_named
from ingestd.embed.vectors import bad_rows, what_is_wrong
from ingestd.errors import BadVectors


def embed_query_here(name: str, options: Mapping[str, object], text: str) -> NDArray[np.float32]:
    """Vector of a query, shape ``(d,)``, norm 1, embedded in this process.

    For a command that asks once: starting a process would cost as much again.

    Raises
    ------
    AdapterUnavailable
        When the engine or the weights are not installed.
    ConfigurationError
        On an unknown name or option, a changed weights file, or a query over the embedder's limit.
    BadVectors
        When the vector is not finite or not of norm 1.
    """
    embedder = embedder_named(name, options)
    embedder.load()
    return checked_query(embedder.embed_query(text), embedder.dimension)


def checked_query(matrix: NDArray[Any], dimension: int) -> NDArray[np.float32]:
    """Row of a matrix of shape ``(1, dimension)``.

    Raises
    ------
    BadVectors
        When it is of another shape, not finite or not of norm 1.
    """
    if bad_rows(matrix, rows=1, dimension=dimension):
        raise BadVectors(
            f"the vector of the query is unusable: {what_is_wrong(matrix, dimension=dimension)}", rows=(0,)
        )
    row: NDArray[np.float32] = matrix[0]
    return row
