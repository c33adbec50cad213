"""Synthetic Markdown files from a fixed seed, and what happens to them from run to run."""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

SEED = 20261130
SECTIONS = 9
FILE_CHARACTERS = 8_000
_A_DAY = 86_400
_SYLLABLES = [
    "ba",
    "de",
    "fi",
    "go",
    "lu",
    "ma",
    "ne",
    "pi",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "xo",
    "zu",
    "kar",
    "len",
    "mor",
    "sin",
    "tal",
]


def write_corpus(root: Path, files: int) -> None:
    """Write the files, fifty to a folder."""
    for number, text in zip(range(files), documents(), strict=False):
        path = root / f"{number // 50:03d}" / f"document-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def documents() -> Iterator[str]:
    """Texts of the files, without an end."""
    draw = random.Random(SEED)
    words = ["".join(draw.choices(_SYLLABLES, k=draw.randint(1, 4))) for _ in range(3_000)]
    for number in count():
        yield _document(draw, words, number)


def victims(root: Path, share: float, phase: str) -> list[Path]:
    """One in a hundred of the files, others in each phase."""
    files = sorted(root.rglob("*.md"))
    return random.Random(phase).sample(files, max(1, round(len(files) * share)))


def touch(files: list[Path]) -> None:
    """Another time, the same bytes."""
    for file in files:
        at = file.stat().st_mtime - _A_DAY
        os.utime(file, (at, at))


def edit_paragraph(files: list[Path]) -> None:
    """Other words in one paragraph in the middle of the file, as many of them."""
    for file in files:
        paragraphs = file.read_text().split("\n\n")
        at = next(place for place in range(len(paragraphs) // 2, len(paragraphs)) if paragraphs[place][0] not in "#-")
        paragraphs[at] = " ".join(reversed(paragraphs[at].split(" ")))
        file.write_text("\n\n".join(paragraphs))


def shrink(files: list[Path]) -> None:
    """The first half of the paragraphs is left."""
    for file in files:
        paragraphs = file.read_text().split("\n\n")
        file.write_text("\n\n".join(paragraphs[: len(paragraphs) // 2]) + "\n")


def rename(files: list[Path]) -> None:
    """The same bytes under another name."""
    for file in files:
        file.rename(file.with_name(f"renamed-{file.name}"))


def delete(files: list[Path]) -> None:
    """The files are gone."""
    for file in files:
        file.unlink()


CHANGES: Mapping[str, Callable[[list[Path]], None]] = {
    "touch 1 %": touch,
    "edit 1 %": edit_paragraph,
    "shrink 1 %": shrink,
    "rename 1 %": rename,
    "delete 1 %": delete,
}


def _document(draw: random.Random, words: list[str], number: int) -> str:
    parts = [f"# Report {number} on {_phrase(draw, words, 3)}"]
    goal = FILE_CHARACTERS // SECTIONS
    for section in range(SECTIONS):
        parts.append(f"## {section + 1} {_phrase(draw, words, 4)}")
        size = len(parts[-1])
        while size < goal - 120:
            piece = _list(draw, words) if draw.random() < 0.15 else _paragraph(draw, words)
            parts.append(piece)
            size += len(piece) + 2
    return "\n\n".join(parts) + "\n"


def _paragraph(draw: random.Random, words: list[str]) -> str:
    return " ".join(f"{_phrase(draw, words, draw.randint(6, 14))}." for _ in range(draw.randint(2, 5)))


def _list(draw: random.Random, words: list[str]) -> str:
    return "\n".join(f"- {_phrase(draw, words, draw.randint(3, 8))}" for _ in range(draw.randint(2, 5)))


def _phrase(draw: random.Random, words: list[str], count: int) -> str:
    return " ".join(draw.choices(words, k=count)).capitalize()
