"""One newline logit a token, from windows that overlap.

The maths is that of wtpsplit (Minixhofer et al., "Where's the Point?", 2023; Frohmann et al., "Segment Any Text", 2024):
a token's logit is the mean over the windows that hold it, weighted by how near their middle it stands. Sums are kept in
half precision, as published: a token's probability then equals the published one to the last bit where the model's does.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_TOKENS = 256
"""Tokens of a window, the two marks at its ends left out."""
STRIDE_TOKENS = 128
"""Tokens from a window's first to the next one's."""

Tokens = NDArray[np.int64]
"""Shape ``(n,)``."""
Halves = NDArray[np.float16]
"""Shape ``(n,)``."""
Window = tuple[int, int]
"""First token and the one after the last."""
Forward = Callable[[list[Tokens]], NDArray[Any]]
"""Logits ``(b, longest)`` of the tokens of ``b`` windows; what stands after a window's own tokens is not looked at."""


def newline_logits(tokens: Tokens, edges: Sequence[int], forward: Forward, batch: int) -> Halves:
    """Logit that a new line follows, for each token.

    Parameters
    ----------
    tokens
        Of all texts, one after the other.
    edges
        Where texts begin, ascending, and at last the number of tokens.
    forward
        The model.
    batch
        Windows of one call, which bound the memory taken beside a few bytes a token.

    Notes
    -----
    Windows of one text never see another's tokens. The number of windows grows linearly with the tokens.
    """
    sums, weights = np.zeros(len(tokens), np.float16), np.zeros(len(tokens), np.float16)
    for some in _batches(windows(edges), batch):
        logits = forward([tokens[start:end] for start, end in some])
        for (start, end), row in zip(some, logits, strict=True):
            hat = hat_weights(end - start)
            sums[start:end] += hat * row[: end - start]
            weights[start:end] += hat
    return sums / weights


def windows(edges: Sequence[int]) -> list[Window]:
    """Windows of each text, a step apart; its last one ends with the text. Windows of one length stand together."""
    made: list[Window] = []
    for start, end in pairwise(edges):
        if start == end:
            continue
        last = max(start, end - BLOCK_TOKENS)
        made += ((first, first + BLOCK_TOKENS) for first in range(start, last, STRIDE_TOKENS))
        made.append((last, end))
    # Little is padded then. The order of a text's own windows stays: half precision sums depend on it.
    return sorted(made, key=lambda window: window[1] - window[0])


def hat_weights(count: int) -> Halves:
    """Weight of each token of a window: 1 in its middle, nearly 0 at its ends."""
    end = 1 - 1 / count
    return 1 - np.abs(np.linspace(-end, end, count, dtype=np.float16))


def probabilities(logits: Halves) -> NDArray[np.float32]:
    """Logistic function of the logits."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-logits.astype(np.float32))), np.float32)


def _batches(made: list[Window], batch: int) -> Iterator[list[Window]]:
    for start in range(0, len(made), batch):
        yield made[start : start + batch]
