"""Checked options of the embedder adapters."""

import difflib
from collections.abc import Collection, Mapping

from ingestd.errors import ConfigurationError


def known_only(embedder: str, options: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse keys that the embedder does not know.

    Raises
    ------
    ConfigurationError
        Names each unknown key with the nearest known one.
    """
    findings = [_unknown(embedder, key, known) for key in options if key not in known]
    if findings:
        raise ConfigurationError("; ".join(findings))


def positive(embedder: str, options: Mapping[str, object], key: str, default: int) -> int:
    """Positive integer under the key, the default where it is absent or ``None``.

    Raises
    ------
    ConfigurationError
        When it is anything else.
    """
    value = options.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"embedder {embedder!r}: {key} = {value!r} must be an integer of 1 or more")
    return value


def one_of(embedder: str, options: Mapping[str, object], key: str, allowed: Collection[object]) -> None:
    """Refuse a value under the key that the embedder cannot honour; absent or ``None`` passes.

    Raises
    ------
    ConfigurationError
        Names the value and those allowed.
    """
    value = options.get(key)
    if value is not None and value not in allowed:
        names = " or ".join(repr(value) for value in allowed)
        raise ConfigurationError(f"embedder {embedder!r}: {key} = {value!r} is not possible, only {names}")


def _unknown(embedder: str, key: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(key, sorted(known), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it knows {', '.join(sorted(known))}"
    return f"embedder {embedder!r} has no option {key!r}; {hint}"
