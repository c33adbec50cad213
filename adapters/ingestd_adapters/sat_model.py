"""A SaT model in onnxruntime: probabilities that a sentence ends after a character.

Engines are imported, files are read and the device is chosen at the first use only.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.errors import ConfigurationError, TransientError
from ingestd.logs import Log
from ingestd_adapters.onnx_device import ON_CPU, Choice
from ingestd_adapters.sat_files import ModelFiles
from ingestd_adapters.sat_session import SatSession, available_providers, opened, started
from ingestd_adapters.sat_tokens import SatTokens
from ingestd_adapters.sat_windows import Tokens, newline_logits, probabilities

_TEXT_CHARS = 4 * 2**20
"""Characters of the texts that are gone through together."""
_GPU_BATCH = 32
_CPU_BATCH = 8
"""Windows of one inference where nothing is asked for: a CPU gains nothing by more, and they take memory."""
_KNOWN = "One sentence ends here. Another one begins."

_log = Log(__name__)

Scores = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Characters that a token ends with, ascending, and the probability that a sentence ends after each."""


class SatModel:
    """One model; safe from any thread, one inference at a time.

    Parameters
    ----------
    name
        For messages.
    files
        Finds the files.
    choice
        Chooses the device, of the providers that the engine was built with.
    batch
        Windows of one inference; ``None``: 32 on a GPU, 8 on a CPU.
    engine_options
        Further arguments of onnxruntime's session.
    """

    def __init__(
        self,
        *,
        name: str,
        files: Callable[[], ModelFiles],
        choice: Callable[[Sequence[str]], Choice],
        batch: int | None,
        engine_options: Mapping[str, Any],
    ) -> None:
        self._name = name
        self._files = files
        self._choice = choice
        self._batch = batch
        self._engine_options = engine_options
        self._lock = threading.Lock()
        self._identity: tuple[ModelFiles, str, str] | None = None
        self._tokens: SatTokens | None = None
        self._session: SatSession | None = None

    @property
    def identity(self) -> str:
        """Hashes of weights and tokenizer, as they were when first asked for: those of the files that get loaded."""
        _, weights, tokenizer = self._identified()
        return f"weights.{weights[:16]}+tokenizer.{tokenizer[:16]}"

    @property
    def wants_gpu(self) -> bool:
        """Whether a GPU is the device of choice; loads no model."""
        return self._choice(available_providers()).wants_gpu

    def load(self) -> str:
        """Read the model, start the device, run a known text through it; the device in use.

        Raises
        ------
        AdapterUnavailable
            When an engine or a file is missing.
        ConfigurationError
            When the files are not those of a SaT model, or were changed since their hash was taken.
        """
        ((_, found),) = self.scores([_KNOWN])
        device = self._loaded()[1].device
        if not np.isfinite(found).all():
            raise ConfigurationError(
                f"the segmenter {self._name!r} gives probabilities that are no numbers on {device}: set "
                'chunker.segmenter_device to "cpu", or take another model'
            )
        return device

    def scores(self, texts: Sequence[str]) -> list[Scores]:
        """Where tokens of each text end, with the probability that a sentence does.

        Takes time linear in the texts, and memory of some bytes a token beside one batch of windows.
        """
        return [one for some in _groups(texts) for one in self._scored(some)]

    def _scored(self, texts: Sequence[str]) -> list[Scores]:
        tokens, _ = self._loaded()
        read = [tokens.read(text) for text in texts]
        edges = [0, *accumulate(len(ids) for ids, _ in read)]
        flat = np.concatenate([ids for ids, _ in read])
        with self._lock:
            assert self._session is not None
            batch = self._batch or (_CPU_BATCH if self._session.device == "cpu" else _GPU_BATCH)
            chances = probabilities(newline_logits(flat, edges, self._forward, batch))
        return [
            _last_of_each(ends, chances[start:end])
            for (_, ends), start, end in zip(read, edges[:-1], edges[1:], strict=True)
        ]

    def _forward(self, windows: list[Tokens]) -> NDArray[Any]:
        """Logits of the windows; the lock is held."""
        assert self._session is not None
        try:
            return self._session.logits(windows)
        except MemoryError as error:
            if len(windows) > 1:
                half = len(windows) // 2
                return _stacked(self._forward(windows[:half]), self._forward(windows[half:]))
            if self._session.device == "cpu":
                raise TransientError(
                    f"no memory to run the segmenter {self._name!r} on {windows[0].size} tokens"
                ) from error
            self._session = self._on_cpu(error)
        except RuntimeError as error:
            if self._session.device == "cpu":
                raise ConfigurationError(f"the segmenter {self._name!r} failed: {error}") from error
            self._session = self._on_cpu(error)
        return self._forward(windows)

    def _on_cpu(self, error: Exception) -> SatSession:
        assert self._session is not None
        session, reason = self._session, str(error)
        _log.warning("segmenter.degraded", segmenter=self._name, wanted=session.device, device="cpu", reason=reason)
        return opened(session.weights, ON_CPU, session.marks, self._engine_options)

    def _loaded(self) -> tuple[SatTokens, SatSession]:
        files, weights, tokenizer = self._identified()
        with self._lock:
            if self._tokens is None:
                self._refuse_another(files.tokenizer_sha256, tokenizer, "tokenizer")
                self._tokens = SatTokens(files.tokenizer)
            if self._session is None:
                self._refuse_another(files.weights_sha256, weights, "weights")
                marks, options = self._tokens.marks, self._engine_options
                self._session = started(self._name, files.weights, self._choice, marks, options)
            return self._tokens, self._session

    def _identified(self) -> tuple[ModelFiles, str, str]:
        with self._lock:
            if self._identity is None:
                files = self._files()
                self._identity = (files, files.weights_sha256, files.tokenizer_sha256)
            return self._identity

    def _refuse_another(self, found: str, expected: str, what: str) -> None:
        if found != expected:
            raise ConfigurationError(
                f"the {what} of the segmenter {self._name!r} changed while this process ran ({expected[:12]} before, "
                f"{found[:12]} now): start ingestd again"
            )


def _groups(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts in order, in lists of bounded length; a longer one stands alone."""
    some: list[str] = []
    size = 0
    for text in texts:
        if some and size + len(text) > _TEXT_CHARS:
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text)
    if some:
        yield some


def _last_of_each(ends: NDArray[np.int64], chances: NDArray[np.float32]) -> Scores:
    """Of several tokens that end with one character the last one counts; those that end nowhere do not."""
    somewhere = ends > 0
    characters, first = np.unique(ends[somewhere][::-1] - 1, return_index=True)
    return characters, chances[somewhere][::-1][first]


def _stacked(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    longest = max(first.shape[1], second.shape[1])
    return np.concatenate([np.pad(part, ((0, 0), (0, longest - part.shape[1]))) for part in (first, second)])
