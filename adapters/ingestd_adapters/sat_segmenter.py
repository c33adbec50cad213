"""Sentences by the SaT models, which read any of 85 languages without its punctuation.

Making a segmenter loads nothing. Nothing is ever downloaded: the files come from a folder, or from the pinned revision of
a model that the hub's tools have put into their cache.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.errors import ConfigurationError
from ingestd_adapters.onnx_device import Choice, Provider, check_device, choose
from ingestd_adapters.sat_files import model_files
from ingestd_adapters.sat_model import SatModel

VERSION = 1
"""Raised whenever a boundary moves for any text and model."""
THRESHOLD = 0.25
"""Probability over which a sentence ends, as the models with ``sm`` in their names were published with."""

_SPACE = re.compile(r"\s*")

Vector = NDArray[np.float64]
"""Shape ``(n,)``."""


def sat(
    model_name: str = "sat-9l-sm",
    *,
    model_dir: str | Path | None = None,
    revision: str | None = None,
    device: str = "auto",
    threshold: float = THRESHOLD,
    batch: int | None = None,
    ort_providers: Sequence[str | Provider] | None = None,
    ort_kwargs: Mapping[str, Any] | None = None,
) -> "SatSegmenter":
    """Segmenter by any SaT model.

    Parameters
    ----------
    model_name
        Name of the model's repository.
    model_dir
        Folder with ``model_optimized.onnx`` and ``tokenizer.json``.
    revision
        Commit of the model in the hub's cache, in place of a folder, or a branch as it was when downloaded.
    device
        ``auto``, ``cpu``, ``cuda`` or ``cuda:N``; ``gpu`` is ``cuda``. Where the device fails, the CPU takes its place,
        with the event ``segmenter.degraded``. No part of the identity.
    threshold
        Probability over which a sentence ends, above 0 and below 1.
    batch
        Windows of 256 tokens of one inference. ``None``: 32 on a GPU, 8 on a CPU.
    ort_providers
        Providers of onnxruntime, in the order of preference, in place of a device.
    ort_kwargs
        Further arguments of onnxruntime's session.

    Raises
    ------
    ConfigurationError
        When an option is out of its range. What is missing is told at the first use.
    """
    check_device(device)
    if ort_providers is not None and device != "auto":
        raise ConfigurationError("pass either device= or ort_providers=, not both")
    if not 0 < threshold < 1:
        raise ConfigurationError(f"the segmenter's threshold {threshold!r} must be above 0 and below 1")
    if batch is not None and batch < 1:
        raise ConfigurationError(f"the segmenter's batch {batch!r} must be 1 or more")
    folder = Path(model_dir) if model_dir is not None else None
    name = model_name.removesuffix("-sm")
    model = SatModel(
        name=name,
        files=partial(model_files, model_name, folder=folder, revision=revision),
        choice=partial(choose, device) if ort_providers is None else partial(_configured, ort_providers),
        batch=batch,
        engine_options=ort_kwargs or {},
    )
    return SatSegmenter(name, model, threshold)


sat_3l = partial(sat, "sat-3l-sm")
"""Segmenter of 3 layers, the fastest."""
sat_9l = partial(sat, "sat-9l-sm")
"""Segmenter of 9 layers."""
sat_12l = partial(sat, "sat-12l-sm")
"""Segmenter of 12 layers, the most exact."""


class SatSegmenter:
    """Splits where the model sees an end; white space goes with the sentence before it. Safe from any thread."""

    def __init__(self, name: str, model: SatModel, threshold: float) -> None:
        self._name = name
        self._model = model
        self._threshold = threshold

    @property
    def name(self) -> str:
        """Identity for the recipe: version, hashes of the files, threshold; reads the files once.

        Raises
        ------
        AdapterUnavailable
            When a file is missing.
        """
        return f"{self._name}/{VERSION}+{self._model.identity}+threshold.{self._threshold:g}"

    def load(self) -> str:
        """Load the model, run a known text through it; the device in use, such as ``cpu`` or ``cuda:0``.

        Raises
        ------
        AdapterUnavailable
            When an engine or a file is missing; names the folder looked at and the way out.
        ConfigurationError
            When the files are not those of a SaT model, or were changed since their hash was taken.
        """
        return self._model.load()

    def split(self, text: str) -> list[str]:
        """Sentences whose concatenation is the text, none of them empty, none but the only one blank."""
        if not text or text.isspace():
            return [text] if text else []
        ((characters, chances),) = self._model.scores([text])
        first = len(text) - len(text.lstrip())
        cuts = [0]
        for character in characters[chances > self._threshold].tolist():
            if character >= max(cuts[-1], first):
                space = _SPACE.match(text, character + 1)
                cuts.append(space.end() if space else character + 1)
        if cuts[-1] != len(text):
            cuts.append(len(text))
        return [text[start:end] for start, end in pairwise(cuts)]

    def __call__(self, document: str, /) -> Vector:
        """Probability that a sentence ends after each character; 0 where no token ends."""
        return self.predict_proba_batch([document])[0]

    def predict_proba_batch(self, documents: Sequence[str], /) -> list[Vector]:
        """Probabilities of each document, in their order."""
        found = [np.zeros(len(document)) for document in documents]
        written = [number for number, document in enumerate(documents) if document and not document.isspace()]
        for number, (characters, chances) in zip(
            written, self._model.scores([documents[number] for number in written]), strict=True
        ):
            found[number][characters] = chances
        return found

    def wants_batching(self) -> bool:
        """Whether many documents at once are faster than one after the other: on a GPU."""
        return self._model.wants_gpu


def _configured(providers: Sequence[str | Provider], _available: Sequence[str], /) -> Choice:
    named: list[Provider] = [(one, {}) if isinstance(one, str) else one for one in providers]
    return Choice(providers=tuple(named), wanted=",".join(name for name, _ in named))
