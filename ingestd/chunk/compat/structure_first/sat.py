"""The seed's segmenters by SaT models, through the adapter that is registered for them.

Nothing is downloaded, unlike in the seed: a model that the hub's cache on this machine lacks is a ``SegmenterError`` that
names where it was looked for.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ingestd import registry
from ingestd.chunk.compat.structure_first.errors import SegmenterError, ValidationError
from ingestd.chunk.compat.structure_first.protocols import BatchSentenceSegmenter, Vector
from ingestd.errors import ConfigurationError, IngestdError

DEFAULT_MODEL = "sat-9l-sm"

Provider = str | tuple[str, Mapping[str, str]]


class SaTSegmenter:
    """Probabilities of a SaT model, which is loaded at the first document.

    Parameters
    ----------
    model_name
        Name of the model's repository.
    device
        ``auto``, ``cpu``, ``cuda`` or ``gpu``, in any case.
    ort_providers
        Providers of onnxruntime, in the order of preference, in place of a device.
    ort_kwargs
        Further arguments of onnxruntime's session.
    model_dir
        Folder with ``model_optimized.onnx`` and ``tokenizer.json``, in place of the hub's cache.
    revision
        Commit or branch in the hub's cache. The default is what was downloaded last, as in the seed.

    Raises
    ------
    ValidationError
        When the device is none, or is given beside providers.
    """

    def __init__(
        self,
        model_name: str = DEFAULT_MODEL,
        *,
        device: str = "auto",
        ort_providers: Sequence[Provider] | None = None,
        ort_kwargs: Mapping[str, Any] | None = None,
        model_dir: str | Path | None = None,
        revision: str = "main",
    ) -> None:
        factory: Callable[..., BatchSentenceSegmenter] = registry.factory("segmenters", "sat")
        try:
            self._segmenter = factory(
                model_name,
                device=device,
                ort_providers=ort_providers,
                ort_kwargs=ort_kwargs,
                model_dir=model_dir,
                revision=None if model_dir is not None else revision,
            )
        except ConfigurationError as error:
            raise ValidationError(str(error)) from error

    def __call__(self, document: str, /) -> Vector:
        """Probability that a sentence ends after each character, shape ``(len(document),)``.

        Raises
        ------
        SegmenterError
            When the model is missing or fails.
        """
        return self.predict_proba_batch([document])[0]

    def predict_proba_batch(self, documents: list[str], /) -> list[Vector]:
        """One vector for a document, in their order; zeros for a blank one."""
        with _failing():
            return self._segmenter.predict_proba_batch(documents)

    def wants_batching(self) -> bool:
        """Whether a GPU is the device of choice, where many documents at once are faster."""
        with _failing():
            return self._segmenter.wants_batching()


def sat_3l(**options: Any) -> SaTSegmenter:
    """Segmenter of 3 layers; options are those of :class:`SaTSegmenter`."""
    return SaTSegmenter("sat-3l-sm", **options)


def sat_9l(**options: Any) -> SaTSegmenter:
    """Segmenter of 9 layers; options are those of :class:`SaTSegmenter`."""
    return SaTSegmenter("sat-9l-sm", **options)


def sat_12l(**options: Any) -> SaTSegmenter:
    """Segmenter of 12 layers; options are those of :class:`SaTSegmenter`."""
    return SaTSegmenter("sat-12l-sm", **options)


def sat_default() -> SaTSegmenter:
    """Segmenter that the seed takes where none is given."""
    return SaTSegmenter()


@contextmanager
def _failing() -> Generator[None]:
    try:
        yield
    except IngestdError as error:
        raise SegmenterError(str(error)) from error
