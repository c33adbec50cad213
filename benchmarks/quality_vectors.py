"""Vectors of texts, each computed once: a cache on disk serves later runs."""

import hashlib
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from quality_minilm import minilm

from ingestd_adapters.onnx_embedder import bge_small

Vectors = NDArray[np.float32]
"""Shape ``(n, d)``, norm 1."""
Encode = Callable[[str], NDArray[np.float32]]

_AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """An embedding model; texts go through it one by one, so that a vector depends on its text alone."""

    name: str
    max_tokens: int
    query_prefix: str
    load: Callable[[], Encode]


def _bge() -> Encode:
    embedder = bge_small({"threads": 1})
    embedder.load()
    return lambda text: embedder.embed_documents([text])[0]


MODELS: Mapping[str, Model] = {
    "bge-small": Model(
        name="bge-small",
        max_tokens=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
        load=_bge,
    ),
    "minilm": Model(name="minilm", max_tokens=256, query_prefix="", load=minilm),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCache:
    """Vectors by model and text, in one SQLite file that may be deleted at any time."""

    file: Path
    jobs: int

    def vectors(self, model: str, texts: Sequence[str]) -> Vectors:
        """Vector of each text."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.file, timeout=60)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
            known = {text: vector for text in set(texts) if (vector := _read(database, model, text)) is not None}
            missing = sorted(set(texts) - set(known), key=lambda text: (len(text), text), reverse=True)
            for part in self._computed(model, missing):
                rows = [(_key(model, text), vector.tobytes()) for text, vector in part]
                with database:
                    database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)
                known.update(part)
        return np.stack([known[text] for text in texts])

    def _computed(self, model: str, texts: Sequence[str]) -> Iterator[list[tuple[str, NDArray[np.float32]]]]:
        if not texts:
            return
        parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        spawn = get_context("spawn")
        with ProcessPoolExecutor(self.jobs, mp_context=spawn, initializer=_start, initargs=(model,)) as pool:
            for done, future in enumerate(as_completed([pool.submit(_encoded, part) for part in parts]), start=1):
                yield future.result()
                if done % 20 == 0:
                    print(f"  {model}: {done} of {len(parts)} parts", file=sys.stderr, flush=True)


def _read(database: sqlite3.Connection, model: str, text: str) -> NDArray[np.float32] | None:
    row = database.execute("SELECT vector FROM vector WHERE key = ?", (_key(model, text),)).fetchone()
    return None if row is None else np.frombuffer(row[0], np.float32)


def _key(model: str, text: str) -> bytes:
    return hashlib.sha256(f"{model}\0{text}".encode()).digest()


_encode: list[Encode] = []
"""The worker's model."""


def _start(model: str) -> None:
    _encode.append(MODELS[model].load())


def _encoded(texts: Sequence[str]) -> list[tuple[str, NDArray[np.float32]]]:
    return [(text, _encode[0](text)) for text in texts]
