"""Sentences into chunklets of about three statements."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from ingestd.chunk.compat.structure_first.blocks import Blocks, blocks_of
from ingestd.chunk.compat.structure_first.constants import (
    DEFAULT_MAX_SIZE_CHARS,
    MIN_Q25_WORDS,
    QUARTILE_GAP_STATEMENTS,
    STATEMENT_COST_FLOOR,
    STATEMENT_COST_SCALE,
    STATEMENTS_AT_Q25,
    TARGET_STATEMENTS_PER_CHUNKLET,
)
from ingestd.chunk.compat.structure_first.errors import OversizedSentenceError, ValidationError
from ingestd.chunk.compat.structure_first.partition import Costs, cheapest_pieces, traced
from ingestd.chunk.compat.structure_first.protocols import Matrix, Vector
from ingestd.chunk.compat.structure_first.strengths import boundary_strengths
from ingestd.chunk.tracing import Value, span

BoundaryCost = Callable[[Vector], float]
"""Cost of the boundaries of one chunklet, the one before it first, from their strengths."""
StatementCost = Callable[[float], float]
"""Cost of a chunklet of so many statements."""


def split_chunklets(
    sentences: list[str],
    max_size: int = DEFAULT_MAX_SIZE_CHARS,
    boundary_cost: BoundaryCost | None = None,
    statement_cost: StatementCost | None = None,
) -> list[str]:
    """Join sentences to chunklets that begin where Markdown's blocks do and hold about three statements each.

    A long sentence is more statements than a short one, by the quartiles of all sentences' words.

    Parameters
    ----------
    sentences
        Of one document, in order.
    max_size
        Characters of a chunklet.
    boundary_cost, statement_cost
        What a chunklet costs; the sum over all chunklets is made least.

    Returns
    -------
    list of str
        Their concatenation is that of the sentences.

    Raises
    ------
    OversizedSentenceError
        When one of several sentences is longer than ``max_size``.
    ValidationError
        When ``max_size`` is not positive.
    """
    if max_size <= 0:
        raise ValidationError(f"max_size must be positive, got {max_size}")
    return chunklets_of(sentences, "".join(sentences), None, max_size, boundary_cost, statement_cost)


def chunklets_of(
    sentences: list[str],
    text: str,
    blocks: Blocks | None,
    max_size: int,
    boundary_cost: BoundaryCost | None = None,
    statement_cost: StatementCost | None = None,
) -> list[str]:
    """As :func:`split_chunklets`, of sentences whose text may have been parsed already."""
    attributes: dict[str, Value] = {
        "fancychunk.sentences.count": len(sentences),
        "fancychunk.max_size": max_size,
        "fancychunk.custom_costs": boundary_cost is not None or statement_cost is not None,
    }
    with span("fancychunk.split_chunklets", attributes) as current:
        if len(sentences) <= 1:
            current.set_attribute("fancychunk.short_circuit", "single_sentence" if sentences else "empty")
            chunklets = list(sentences)
        else:
            chunklets = _split(sentences, text, blocks, max_size, boundary_cost, statement_cost)
        current.set_attribute("fancychunk.chunklets.count", len(chunklets))
    return chunklets


def _split(
    sentences: list[str],
    text: str,
    blocks: Blocks | None,
    max_size: int,
    boundary_cost: BoundaryCost | None,
    statement_cost: StatementCost | None,
) -> list[str]:
    lengths = np.fromiter(map(len, sentences), dtype=np.intp, count=len(sentences))
    if lengths.max() > max_size:
        index = int(np.argmax(lengths > max_size))
        raise OversizedSentenceError(
            f"sentence {index} has length {lengths[index]} > max_size {max_size}: split it, or raise max_size"
        )
    with span("fancychunk.chunklets.boundary_probas"):
        strengths = boundary_strengths(sentences, text, blocks or blocks_of(text))
    with span("fancychunk.chunklets.statement_counts"):
        statements = np.concatenate(([0.0], np.cumsum(_statements(sentences))))
    with span("fancychunk.chunklets.dp"):
        if boundary_cost is None and statement_cost is None:
            ends = cheapest_pieces(lengths, max_size, _costs(strengths, statements))
        else:
            asked = boundary_cost or _boundary_cost, statement_cost or _statement_cost
            ends = _cheapest_by_call(lengths.tolist(), max_size, strengths, statements, *asked)
    return ["".join(sentences[start:end]) for start, end in pairwise([0, *ends])]


def _statements(sentences: list[str]) -> Vector:
    """Statements of each sentence: more words are more, half as fast above the lower quartile of all sentences."""
    words = np.array([len(sentence.split()) for sentence in sentences], dtype=np.float64)
    low, high = np.percentile(words, [25, 75])
    low = max(float(low), MIN_Q25_WORDS)
    high = max(float(high), low + 1.0)
    above = STATEMENTS_AT_Q25 + QUARTILE_GAP_STATEMENTS * (words - low) / (high - low)
    statements: Vector = np.where(words <= low, STATEMENTS_AT_Q25 * words / low, above)
    return statements


def _costs(strengths: Vector, statements: Vector) -> Costs:
    cumulated = np.concatenate(([0.0], np.cumsum(strengths)))
    opening = 1.0 - strengths

    def costs(starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Matrix:
        inner = cumulated[ends] - cumulated[starts + 1]
        total = statements[ends] - statements[starts]
        total_cost = STATEMENT_COST_SCALE * (total - TARGET_STATEMENTS_PER_CHUNKLET) ** 2
        total_cost /= np.sqrt(np.maximum(total, STATEMENT_COST_FLOOR))
        table: Matrix = (opening[starts] + inner) + total_cost
        return table

    return costs


def _cheapest_by_call(
    lengths: list[int],
    most: int,
    strengths: Vector,
    statements: Vector,
    boundary_cost: BoundaryCost,
    statement_cost: StatementCost,
) -> list[int]:
    """Ends of the chunklets where each candidate's costs are asked for."""
    places = [0, *accumulate(lengths)]
    totals = [0.0]
    sources = [0]
    low = 0
    for end in range(1, len(places)):
        while places[end] - places[low] > most:
            low += 1
        best, source = inf, low
        for start in range(low, end):
            total = totals[start] + boundary_cost(strengths[start:end])
            total += statement_cost(float(statements[end] - statements[start]))
            if total < best:
                best, source = total, start
        totals.append(best)
        sources.append(source)
    return traced(sources)


def _boundary_cost(strengths: Vector) -> float:
    return float((1.0 - strengths[0]) + strengths[1:].sum())


def _statement_cost(statements: float) -> float:
    away = statements - TARGET_STATEMENTS_PER_CHUNKLET
    return float(STATEMENT_COST_SCALE * away**2 / sqrt(max(statements, STATEMENT_COST_FLOOR)))
