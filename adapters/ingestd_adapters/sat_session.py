"""The loaded weights of a SaT model, on a device."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd.logs import Log
from ingestd_adapters.onnx_device import ON_CPU, Choice, device_in_use, threads
from ingestd_adapters.sat_tokens import Marks
from ingestd_adapters.sat_windows import Tokens

_IDS, _MASK, _LOGITS = "input_ids", "attention_mask", "logits"
_TYPES: Mapping[str, type[np.generic]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(float16)": np.float16,
    "tensor(float)": np.float32,
    "tensor(bool)": np.bool_,
}

_log = Log(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SatSession:
    """Weights on a device.

    Raises
    ------
    ConfigurationError
        When inputs and outputs are not those of a SaT model.
    """

    weights: Path
    device: str
    marks: Marks
    session: Any  # onnxruntime ships no types
    types: Mapping[str, type[np.generic]]
    """Of the inputs, by their names."""

    def logits(self, windows: Sequence[Tokens]) -> NDArray[Any]:
        """Newline logits, shape ``(windows, longest)``; what stands after a window's own tokens means nothing.

        Raises
        ------
        MemoryError
            When the device is too small for these windows.
        RuntimeError
            When the engine fails otherwise.
        """
        longest = max(map(len, windows)) + 2
        ids = np.full((len(windows), longest), self.marks.padding, self.types[_IDS])
        mask = np.zeros((len(windows), longest), self.types[_MASK])
        for row, tokens in enumerate(windows):
            ids[row, 0] = self.marks.begin
            ids[row, 1 : len(tokens) + 1] = tokens
            ids[row, len(tokens) + 1] = self.marks.end
            mask[row, : len(tokens) + 2] = 1
        try:
            found: NDArray[Any] = self.session.run([_LOGITS], {_IDS: ids, _MASK: mask})[0]
        except engine_errors() as error:
            # The engine has no class of its own for this.
            if "alloc" in str(error) or "out of memory" in str(error).lower():
                raise MemoryError(str(error)) from error
            raise RuntimeError(str(error)) from error
        return found[:, 1:-1, 0]


def available_providers() -> list[str]:
    """Names of the providers that the engine was built with."""
    found: list[str] = _engine().get_available_providers()
    return found


def started(
    name: str, weights: Path, choice: Callable[[Sequence[str]], Choice], marks: Marks, options: Mapping[str, Any]
) -> SatSession:
    """Load weights onto the device of choice, else onto the CPU, with the event ``segmenter.degraded``.

    Parameters
    ----------
    name
        Of the segmenter, for the event.
    choice
        Chooses, of the providers that the engine was built with.
    options
        Further arguments of the engine's session.
    """
    chosen = choice(available_providers())
    return begun(name, chosen, lambda device: opened(weights, device, marks, options))


def begun(name: str, chosen: Choice, open_on: Callable[[Choice], SatSession]) -> SatSession:
    """Session on the device of choice, or on the CPU where that one fails."""
    reason = chosen.reason
    session: SatSession | None = None
    if chosen.beyond_cpu:
        try:
            session = open_on(chosen)
        except (RuntimeError, MemoryError) as error:
            reason = str(error)
        else:
            if session.device == "cpu":
                reason = "the engine could not start the device: its driver or libraries are missing or do not fit"
    if reason is not None:
        _log.warning("segmenter.degraded", segmenter=name, wanted=chosen.wanted, device="cpu", reason=reason)
    return session or open_on(ON_CPU)


def opened(weights: Path, chosen: Choice, marks: Marks, options: Mapping[str, Any]) -> SatSession:
    """Load weights by the providers of the choice.

    Raises
    ------
    ConfigurationError
        When the file is no SaT model.
    RuntimeError
        When the engine cannot start a device other than the CPU.
    """
    engine = _engine()
    providers = [(provider, dict(settings)) for provider, settings in chosen.providers]
    # The engine's own way to fall back prints to standard output.
    arguments = {"sess_options": _session_options(engine), "enable_fallback": 0, **options}
    try:
        session = engine.InferenceSession(os.fspath(weights), providers=providers, **arguments)
    except engine_errors() as error:
        if chosen.beyond_cpu:
            raise RuntimeError(str(error)) from error
        raise ConfigurationError(f"{weights} is no ONNX model that runs here: {error}") from error
    inputs = {one.name: one.type for one in session.get_inputs()}
    outputs = {one.name: one.shape for one in session.get_outputs()}
    if set(inputs) != {_IDS, _MASK} or len(outputs.get(_LOGITS) or ()) != 3 or not set(inputs.values()) <= set(_TYPES):
        raise ConfigurationError(
            f"{weights} is no SaT model: it takes {inputs} and gives {outputs}, in place of {_IDS} and {_MASK}, and "
            f"{_LOGITS} of three dimensions"
        )
    return SatSession(
        weights=weights,
        device=device_in_use(chosen, session.get_providers()),
        marks=marks,
        session=session,
        types={name: _TYPES[kind] for name, kind in inputs.items()},
    )


def engine_errors() -> tuple[type[Exception], ...]:
    """What the engine raises."""
    state: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    names = ("Fail", "InvalidArgument", "NoSuchFile", "NoModel", "EngineError", "RuntimeException", "InvalidProtobuf")
    more = ("NotImplemented", "InvalidGraph", "EPFail", "ModelLoaded")
    return (ValueError, *(getattr(state, name) for name in (*names, *more) if hasattr(state, name)))


def _session_options(engine: Any) -> Any:
    options = engine.SessionOptions()
    # The arena never shrinks, and patterns are kept for each shape seen: both grow without end in a daemon.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.intra_op_num_threads = threads()
    options.inter_op_num_threads = 1
    # Only what is fatal: whatever else it would print is raised too.
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _engine() -> Any:
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        raise AdapterUnavailable(f'SaT segmenters need an engine: pip install "ingestd[sat]" ({error})') from error
