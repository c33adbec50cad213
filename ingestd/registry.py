"""Adapters by name, through entry points."""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ingestd.errors import AdapterUnavailable, ConfigurationError


def names(group: str) -> tuple[str, ...]:
    """Names registered in the group, sorted: ``converters``, ``embedders``, ``segmenters`` or ``stores``."""
    return tuple(sorted(_entries(group)))


def factory(group: str, name: str) -> Callable[..., Any]:
    """Factory registered under the name.

    Raises
    ------
    ConfigurationError
        When nothing of that name is registered; names those that are.
    AdapterUnavailable
        When its engine is not installed.
    """
    entries = _entries(group)
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise ConfigurationError(f"no {group[:-1]} is called {name!r}; installed: {known}")
    try:
        made: Callable[..., Any] = entries[name].load()
    except ImportError as error:
        raise AdapterUnavailable(f"the {group[:-1]} {name!r} cannot be loaded: {error}") from error
    return made


def _entries(group: str) -> Mapping[str, EntryPoint]:
    return _on(tuple(sys.path), group)


@cache
def _on(_path: tuple[str, ...], group: str) -> Mapping[str, EntryPoint]:
    # Once for a path: each look reads the metadata of every package that is installed (20 ms, 2026-12).
    return {entry.name: entry for entry in entry_points(group=f"ingestd.{group}")}
