"""Corpora and questions with their exact excerpts, as the report that introduced the measures published them."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Span = tuple[int, int]
"""Half-open, in characters of a corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and where its answer stands."""

    text: str
    corpus: str
    excerpts: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What is searched, and for what."""

    corpora: dict[str, str]
    questions: tuple[Question, ...]


def evaluation(folder: Path, only: Sequence[str] = ()) -> Evaluation:
    """Evaluation set in the folder, or some of its corpora.

    Raises
    ------
    SystemExit
        When the folder does not hold it; says what it must hold.
    """
    table = folder / "questions_df.csv"
    if not table.is_file():
        raise SystemExit(
            f"no evaluation set in {folder}: --data must name a folder with questions_df.csv and a .md file for each "
            "corpus that it names (the general evaluation data of github.com/brandonstarxel/chunking_evaluation)"
        )
    with table.open(encoding="utf-8", newline="") as rows:
        questions = tuple(_question(row) for row in csv.DictReader(rows) if not only or row["corpus_id"] in only)
    names = sorted({question.corpus for question in questions})
    unknown = sorted(set(only) - set(names))
    if unknown:
        raise SystemExit(f"{table} has no questions on the corpus {unknown[0]!r}")
    return Evaluation(corpora={name: _text(folder / f"{name}.md") for name in names}, questions=questions)


def _question(row: dict[str, str]) -> Question:
    spans = [(int(one["start_index"]), int(one["end_index"])) for one in json.loads(row["references"])]
    return Question(text=row["question"], corpus=row["corpus_id"], excerpts=tuple(spans))


def _text(file: Path) -> str:
    """Characters as they are: excerpts count every line ending as it stands."""
    with file.open(encoding="utf-8", newline="") as stream:
        return stream.read()
