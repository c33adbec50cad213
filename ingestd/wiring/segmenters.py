"""Makes segmenters from settings, proven before they are needed."""

import inspect
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ingestd import registry
from ingestd.errors import ConfigurationError
from ingestd.ports.segmenter import Loads, Segmenter
from ingestd.settings import ChunkerSettings, Settings

PREFIX = "segmenter_"
"""Of the chunker's settings that are the segmenter's options."""
_KNOWN = "One sentence ends here. Another one begins."

Option = tuple[str, str | float | Path]


def segmenter_of(chunker: ChunkerSettings) -> Segmenter:
    """Segmenter of a chunker; chunkers with the same options share it.

    Raises
    ------
    ConfigurationError
        When nobody registered it, or it takes no such option.
    AdapterUnavailable
        When its engine is not installed.
    """
    return segmenter(chunker.segmenter, _options(chunker))


def distinct(settings: Settings) -> tuple[ChunkerSettings, ...]:
    """A chunker of the roots for each segmenter that they need; without roots the one that roots would have."""
    chunkers = [root.chunker for root in settings.roots] or [settings.chunker]
    return tuple({(one.segmenter, _options(one)): one for one in chunkers}.values())


@cache
def segmenter(name: str, options: tuple[Option, ...] = ()) -> Segmenter:
    """Segmenter registered under the name, made once for the same options."""
    factory: Callable[..., Segmenter] = registry.factory("segmenters", name)
    taken = inspect.signature(factory).parameters
    for key, _ in options:
        if key not in taken:
            raise ConfigurationError(
                f"the segmenter {name!r} has no {key}: remove chunker.{PREFIX}{key}, or set it below [root.chunker] of "
                "the roots whose segmenter has one"
            )
    return factory(**dict(options))


def probe(splitter: Segmenter) -> str:
    """Load what a segmenter runs on, split a known text; its name, with the device where it has one.

    Raises
    ------
    ConfigurationError
        When it loses text, or cannot be loaded.
    AdapterUnavailable
        When an engine or a model is missing.
    """
    device = splitter.load() if isinstance(splitter, Loads) else None
    if "".join(splitter.split(_KNOWN)) != _KNOWN:
        raise ConfigurationError(f"the segmenter {splitter.name} loses text: choose another as chunker.segmenter")
    return splitter.name if device is None else f"{splitter.name}, on {device}"


def probe_all(settings: Settings) -> None:
    """Probe the segmenter of every root, each once."""
    for chunker in distinct(settings):
        probe(segmenter_of(chunker))


def signature(chunker: ChunkerSettings) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of each file of the segmenter's model: cheap to know, another one when the model may be."""
    if chunker.segmenter_model_dir is None:
        return ()
    try:
        with os.scandir(chunker.segmenter_model_dir) as entries:
            found = [(entry.name, entry.stat()) for entry in entries]
    except OSError:
        # Told by the probe, with the way out.
        return ()
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in found))


def _options(chunker: ChunkerSettings) -> tuple[Option, ...]:
    options: dict[str, str | float | Path | None] = {
        "model_dir": chunker.segmenter_model_dir,
        "revision": chunker.segmenter_revision,
        "threshold": chunker.segmenter_threshold,
        "device": None if chunker.segmenter_device == "auto" else chunker.segmenter_device,
    }
    return tuple((key, value) for key, value in options.items() if value is not None)
