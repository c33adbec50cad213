"""Where the configuration and the state are."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ingestd.errors import ConfigurationError

CONFIG_VARIABLE = "INGESTD_CONFIG"
STATE_VARIABLE = "INGESTD_STATE_DIR"


def configuration_file(flag: str | None, environment: Mapping[str, str], here: Path) -> Path | None:
    """Absolute path of the configuration in force; ``None``: there is none, the built-in defaults hold.

    The first of: ``flag`` (``--config``), ``$INGESTD_CONFIG``, ``./ingestd.toml``,
    ``$XDG_CONFIG_HOME/ingestd/config.toml``, ``/etc/ingestd/config.toml``.

    Raises
    ------
    ConfigurationError
        When the file that the flag or the variable names does not exist.
    """
    for source, named in (("--config", flag), (f"${CONFIG_VARIABLE}", environment.get(CONFIG_VARIABLE))):
        if named:
            return _named(source, here / Path(named).expanduser())
    for candidate in _candidates(environment, here):
        if candidate.is_file():
            return _absolute(candidate)
    return None


def state_directory(flag: str | None, environment: Mapping[str, str], here: Path, file: Path | None) -> Path:
    """Absolute path of the state directory; it need not exist.

    The first of: ``flag`` (``--state-dir``), ``$INGESTD_STATE_DIR``, a directory below ``$XDG_STATE_HOME/ingestd``
    named after the configuration's path, so that two configurations never share one.
    """
    named = flag or environment.get(STATE_VARIABLE)
    if named:
        return _absolute(here / Path(named).expanduser())
    base = _home(environment, "XDG_STATE_HOME", ".local/state") / "ingestd"
    if file is None:
        return base / "default"
    # The path as it was given, links not followed: some systems point a fixed name at a new file on every update.
    path = os.fsencode(_absolute(file))
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", file.stem)[:60]
    return base / f"{stem}-{hashlib.sha256(path).hexdigest()[:8]}"


def _named(source: str, file: Path) -> Path:
    if not file.is_file():
        raise ConfigurationError(
            f"{source} names {file}, which is not a file: give the path of a configuration, "
            "or write one with `ingestd init`"
        )
    return _absolute(file)


def _candidates(environment: Mapping[str, str], here: Path) -> Iterator[Path]:
    yield here / "ingestd.toml"
    yield _home(environment, "XDG_CONFIG_HOME", ".config") / "ingestd" / "config.toml"
    yield Path("/etc/ingestd/config.toml")


def _home(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    # The XDG specification has relative paths ignored.
    named = Path(environment.get(variable, ""))
    if named.is_absolute():
        return named
    return Path(environment.get("HOME") or Path.home()) / below_home


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
