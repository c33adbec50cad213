"""How well ranked chunks answer a question whose exact excerpts are known.

Recall, precision, precision-omega and IoU are those of Smith and Troynikov, "Evaluating Chunking Strategies for
Retrieval" (Chroma, 2024): what is retrieved is compared with the excerpts position by position, a position retrieved
twice counts once as found and twice as retrieved.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from quality_questions import Span

TOP = 5
RANKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk as a chunker gave it."""

    corpus: str
    start: int
    end: int
    text: str
    """What is embedded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """Positions of a corpus in another unit than characters."""

    starts: tuple[int, ...]
    """First character of each token."""

    def span(self, span: Span) -> Span:
        """Tokens that begin in the span."""
        return bisect_left(self.starts, span[0]), bisect_left(self.starts, span[1])


def united(spans: Sequence[Span]) -> list[Span]:
    """Spans in order, those that touch joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def extent(spans: Sequence[Span]) -> int:
    """Positions of all spans, each counted."""
    return sum(end - start for start, end in spans)


def common(left: Sequence[Span], right: Sequence[Span]) -> int:
    """Positions that two lists of disjoint spans share."""
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in left for b in right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Share of the excerpts that was found, and of what was retrieved that is in them."""

    recall: float
    precision: float
    iou: float


def overlap(own: Sequence[Span], retrieved: int, excerpts: Sequence[Span]) -> Overlap:
    """Overlap of the retrieved spans of the question's corpus with its excerpts.

    Parameters
    ----------
    retrieved
        Positions of all retrieved spans, of whatever corpus.
    """
    wanted = united(excerpts)
    found = common(united(own), wanted)
    total = extent(wanted)
    return Overlap(
        recall=found / total,
        precision=found / retrieved if retrieved else 0.0,
        iou=found / (retrieved + total - found),
    )


def precision_omega(own: Sequence[Span], excerpts: Sequence[Span]) -> float:
    """Precision if every chunk of the corpus that holds some of an excerpt, and no other, were retrieved.

    What no chunk holds counts as retrieved in vain.
    """
    wanted = united(excerpts)
    holding = united([span for span in own if common([span], wanted)])
    found = common(holding, wanted)
    return found / (extent(holding) + extent(wanted) - found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Quality of the first ten chunks."""

    ndcg: float
    recall: float
    mrr: float


def ranked(first: Sequence[Span | None], own: Sequence[Span], excerpts: Sequence[Span]) -> Ranked:
    """Quality of a ranking.

    A chunk's gain is the share of the excerpts that it holds and none before it held; NDCG divides the discounted sum by
    that of the best order of all chunks, taken greedily. MRR looks for the first chunk that holds any of an excerpt.

    Parameters
    ----------
    first
        Best chunks, best first; ``None`` for those of other corpora.
    own
        All chunks of the question's corpus.
    """
    wanted = united(excerpts)
    gains = _gains(first[:RANKS], wanted)
    best = _discounted(_gains(_greedy(own, wanted), wanted))
    hits = [rank for rank, span in enumerate(first[:RANKS], start=1) if span and common([span], wanted)]
    # A chunker may have lost all of the excerpts.
    ndcg = _discounted(gains) / best if best else 0.0
    return Ranked(ndcg=ndcg, recall=sum(gains), mrr=1 / hits[0] if hits else 0.0)


def _gains(spans: Sequence[Span | None], wanted: Sequence[Span]) -> list[float]:
    total, held, found = extent(wanted), list[Span](), 0
    gains: list[float] = []
    for span in spans:
        if span is not None:
            held = united([*held, span])
        now = common(held, wanted)
        gains.append((now - found) / total)
        found = now
    return gains


def _greedy(own: Sequence[Span], wanted: Sequence[Span]) -> list[Span]:
    left = [span for span in own if common([span], wanted)]
    chosen: list[Span] = []
    while left and len(chosen) < RANKS:
        best = max(left, key=lambda span: common(united([*chosen, span]), wanted))
        left.remove(best)
        chosen.append(best)
    return chosen


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
