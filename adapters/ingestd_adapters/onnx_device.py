"""Which of onnxruntime's devices a model runs on."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingestd.errors import ConfigurationError

CPU = "CPUExecutionProvider"
_CUDA = "CUDAExecutionProvider"
_GPUS = {
    _CUDA: "cuda",
    "ROCMExecutionProvider": "rocm",
    "MIGraphXExecutionProvider": "migraphx",
    "DmlExecutionProvider": "dml",
}
"""Fastest first; TensorRT is left out, since it builds an engine for minutes at each start."""
_TENSORRT = "TensorrtExecutionProvider"
_NAMED = re.compile(r"(cuda|gpu)(?::(\d+))?")
_MOST_THREADS = 4

Provider = tuple[str, Mapping[str, str]]
"""Name and options, as onnxruntime takes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to run on."""

    providers: tuple[Provider, ...]
    """In the order of preference; the last is the CPU."""
    wanted: str = "cpu"
    """What was asked for."""
    reason: str | None = None
    """Why a device that was asked for by its name is left out."""

    @property
    def beyond_cpu(self) -> bool:
        """Whether a device other than the CPU is to be tried."""
        return any(name != CPU for name, _ in self.providers)

    @property
    def wants_gpu(self) -> bool:
        """Whether one of them is a GPU."""
        return any(name in _GPUS or name == _TENSORRT for name, _ in self.providers)


ON_CPU = Choice(providers=((CPU, {}),))


def check_device(device: str) -> None:
    """Refuse a name of no device.

    Raises
    ------
    ConfigurationError
        Names it and those possible.
    """
    if device.lower() not in {"auto", "cpu"} and not _NAMED.fullmatch(device.lower()):
        raise ConfigurationError(f"the segmenter's device {device!r} is not possible, only auto, cpu, cuda or cuda:N")


def choose(device: str, available: Sequence[str]) -> Choice:
    """Providers for a device by its name, ``auto``, ``cpu``, ``cuda`` or ``cuda:N`` in any case.

    Parameters
    ----------
    available
        Names of the providers that the installed onnxruntime was built with.

    Raises
    ------
    ConfigurationError
        When it is another name.
    """
    check_device(device)
    wanted = device.lower()
    if named := _NAMED.fullmatch(wanted):
        if _CUDA in available:
            return Choice(providers=(_gpu(_CUDA, named[2] or "0"), (CPU, {})), wanted=wanted)
        reason = f"the installed onnxruntime has only {', '.join(available)}: install onnxruntime-gpu in its place"
        return Choice(providers=ON_CPU.providers, wanted=wanted, reason=reason)
    for provider in _GPUS if wanted == "auto" else ():
        if provider in available:
            return Choice(providers=(_gpu(provider, "0"), (CPU, {})), wanted=_GPUS[provider])
    return ON_CPU


def device_in_use(choice: Choice, active: Sequence[str]) -> str:
    """Name of the device that a session runs on, by its active providers, such as ``cpu`` or ``cuda:0``."""
    for name, options in choice.providers:
        if name in active and name != CPU:
            device = _GPUS.get(name, name.removesuffix("ExecutionProvider").lower())
            return f"{device}:{options['device_id']}" if "device_id" in options else device
    return "cpu"


def threads() -> int:
    """Threads of one inference on a CPU: the processors that may be used, at most 4; more bring little."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MOST_THREADS, usable)


def _gpu(provider: str, number: str) -> Provider:
    # The arena grows by what is asked for, rather than to the next power of two: others use the device as well.
    options = {"device_id": number}
    return provider, {**options, "arena_extend_strategy": "kSameAsRequested"} if provider == _CUDA else options
