"""Options of the stores, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypeVar

from ingestd.errors import ConfigurationError
from ingestd_adapters.edge_space import MIN_FREE_BYTES

_Options = TypeVar("_Options", bound="EdgeOptions | ServerOptions")


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeOptions:
    """Options of the embedded store."""

    directory: str
    """Where its files are."""
    min_free_bytes: int = MIN_FREE_BYTES
    """Least room on the disk for a write."""
    timeout_seconds: float = 120.0
    """Longest call, after which the process is killed: opening a shard of 1 M points, or flushing on a slow disk."""
    lock_wait_seconds: float = 5.0
    """Longest wait for another process to let go of the files."""
    in_process: bool = False
    """Open the files in this process: for a look of a moment, never for the daemon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options of a Qdrant server."""

    url: str = "http://localhost:6333"
    api_key_file: str | None = None
    """File whose first line is the key."""
    prefer_grpc: bool = False
    timeout_seconds: float = 30.0
    """Longest wait for an answer to one request."""
    verify: bool = True
    """Whether the server's certificate is checked."""
    retry_seconds: float = 20.0
    """How long a call is tried again before ``StoreUnavailable``."""


def read(kind: type[_Options], options: Mapping[str, object]) -> _Options:
    """Options of the kind.

    Raises
    ------
    ConfigurationError
        With every unknown key, wrong type or number below zero.
    """
    known = {field.name: getattr(field.type, "__name__", str(field.type)) for field in fields(kind)}
    findings = [_unknown(name, known) for name in options if name not in known]
    findings += [
        f"{name} = {value!r} is not of type {known[name]}"
        for name, value in options.items()
        if name in known and not _fits(value, known[name])
    ]
    if findings:
        raise ConfigurationError("[store]: " + "; ".join(findings))
    given: dict[str, Any] = dict(options)
    try:
        return kind(**given)
    except TypeError as error:
        raise ConfigurationError(f"[store]: {error}") from error


def _fits(value: object, kind: str) -> bool:
    match kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        case "str | None":
            return value is None or isinstance(value, str)
        case _:
            return isinstance(value, str) and bool(value)


def _unknown(name: str, known: Mapping[str, str]) -> str:
    nearest = get_close_matches(name, known, n=1)
    return f"{name} is unknown" + (f", did you mean {nearest[0]}?" if nearest else f" (known: {', '.join(known)})")
