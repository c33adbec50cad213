"""Scores of a chunker: every measure for every question."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from quality_measures import RANKS, TOP, Piece, Ruler, Span, extent, overlap, precision_omega, ranked
from quality_questions import Question
from quality_vectors import Vectors

CHARACTERS = 4_000
"""Budget of whole chunks: they are taken in their order until the next would pass it; one is always taken."""
TOKENS = 1_000
"""Budget of tokens: the last chunk is cut where it ends, so that every chunker retrieves as much."""
_DEEP = 200

Scores = Mapping[str, NDArray[np.float64]]
"""By measure, one number for a question; in percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Questions with their vectors, and what measures the corpora in tokens."""

    questions: tuple[Question, ...]
    vectors: Vectors
    rulers: Mapping[str, Ruler]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A chunk with its place in characters and tokens."""

    corpus: str
    chars: Span
    tokens: Span


def scores(search: Search, pieces: Sequence[Piece], vectors: Vectors) -> Scores:
    """Scores of the pieces, of which every question ranks all, those of other corpora too."""
    found = [_placed(search, piece) for piece in pieces]
    by_corpus: dict[str, list[Span]] = defaultdict(list)
    for each in found:
        by_corpus[each.corpus].append(each.tokens)
    kept: dict[str, list[float]] = defaultdict(list)
    near = search.vectors @ vectors.T
    for question, row in zip(search.questions, near, strict=True):
        # Equal vectors keep the order of the document, whatever the platform sorts by.
        order = np.argsort(-row, kind="stable")[:_DEEP]
        ruler = search.rulers[question.corpus]
        own = by_corpus[question.corpus]
        for name, value in _measured(question, ruler, [found[index] for index in order], own):
            kept[name].append(100 * value)
    return {name: np.array(values) for name, values in kept.items()}


def _placed(search: Search, piece: Piece) -> _Found:
    chars = (piece.start, piece.end)
    return _Found(corpus=piece.corpus, chars=chars, tokens=search.rulers[piece.corpus].span(chars))


def _measured(
    question: Question, ruler: Ruler, order: Sequence[_Found], own: Sequence[Span]
) -> Iterator[tuple[str, float]]:
    wanted = [ruler.span(span) for span in question.excerpts]

    def mine(found: Sequence[_Found]) -> list[Span]:
        return [each.tokens for each in found if each.corpus == question.corpus]

    top = order[:TOP]
    first = overlap(mine(top), extent([each.tokens for each in top]), wanted)
    yield "recall@5", first.recall
    yield "precision@5", first.precision
    yield "IoU@5", first.iou
    yield "precision-omega", precision_omega(own, wanted)
    cut = _cut(order, TOKENS)
    even = overlap(mine(cut), extent([each.tokens for each in cut]), wanted)
    yield "recall@1000t", even.recall
    yield "IoU@1000t", even.iou
    whole = _whole(order, CHARACTERS)
    spans = [each.chars for each in whole if each.corpus == question.corpus]
    characters = overlap(spans, extent([each.chars for each in whole]), question.excerpts)
    yield "recall@4000c", characters.recall
    yield "IoU@4000c", characters.iou
    yield "filled@4000c", extent([each.chars for each in whole]) / CHARACTERS
    ten = [each.tokens if each.corpus == question.corpus else None for each in order[:RANKS]]
    ranking = ranked(ten, own, wanted)
    yield "NDCG@10", ranking.ndcg
    yield "recall@10", ranking.recall
    yield "MRR@10", ranking.mrr


def _whole(order: Sequence[_Found], budget: int) -> list[_Found]:
    taken: list[_Found] = []
    total = 0
    for each in order:
        total += each.chars[1] - each.chars[0]
        if taken and total > budget:
            break
        taken.append(each)
    return taken


def _cut(order: Sequence[_Found], budget: int) -> list[_Found]:
    taken: list[_Found] = []
    left = budget
    for each in order:
        start, end = each.tokens
        taken.append(_Found(corpus=each.corpus, chars=each.chars, tokens=(start, min(end, start + left))))
        left -= min(end - start, left)
        if not left:
            break
    return taken
