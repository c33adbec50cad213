"""The configuration: read once, checked whole, then frozen.

Every finding is reported together with its line. Only :mod:`ingestd.settings.validation` imports pydantic, and only
once there is a file to validate.
"""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from ingestd.errors import ConfigurationError
from ingestd.settings.findings import report
from ingestd.settings.places import configuration_file, state_directory
from ingestd.settings.rescan import Cron, Interval, rescan_from
from ingestd.settings.tables import (
    ChunkerSettings,
    ConverterSettings,
    DaemonSettings,
    EmbedderSettings,
    RootConverterSettings,
    RootEmbedderSettings,
    RootSettings,
    Settings,
    StoreSettings,
)

_Shared = TypeVar("_Shared", RootConverterSettings, RootEmbedderSettings)

__all__ = [
    "ChunkerSettings",
    "ConverterSettings",
    "Cron",
    "DaemonSettings",
    "EmbedderSettings",
    "Interval",
    "RootConverterSettings",
    "RootEmbedderSettings",
    "RootSettings",
    "Settings",
    "StoreSettings",
    "configuration_file",
    "load",
    "rescan_from",
    "root_for",
    "state_directory",
]


def load(
    file: Path | None,
    *,
    environment: Mapping[str, str] = os.environ,
    absent_folders: Literal["refused", "allowed"] = "refused",
) -> Settings:
    """Settings of the configuration file; without one, the built-in defaults.

    Parameters
    ----------
    file
        Absolute path, as :func:`configuration_file` gives it.
    environment
        Names the directory of credentials (``CREDENTIALS_DIRECTORY``); nothing else is read from it.
    absent_folders
        ``refused``: a root whose folder is missing is a finding; ``allowed``: for commands that do not read the
        folders, and for a daemon that knows the root from before.

    Raises
    ------
    ConfigurationError
        Lists everything that is wrong, a line each, with file, line, key and the way out.
    """
    if file is None:
        return Settings()
    from ingestd.settings.reading import examine

    settings, findings = examine(file, environment=environment, absent_folders=absent_folders)
    if settings is None:
        raise ConfigurationError(report(findings, file))
    return settings


def root_for(folder: Path, settings: Settings, taken: Iterable[str]) -> RootSettings:
    """Root of a folder that was named on the command line, with the recipe of the settings.

    Parameters
    ----------
    folder
        Absolute path.
    settings
        Give the chunker, the converter and the embedder.
    taken
        Names of roots that exist; the folder's own name gets a number where it is one of them.
    """
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in folder.name).lstrip("._-")
    base = plain[:90] or "root"
    names = set(taken)
    numbered = (base, *(f"{base}-{number}" for number in range(2, len(names) + 3)))
    return RootSettings(
        name=next(name for name in numbered if name not in names),
        path=folder,
        chunker=settings.chunker,
        converter=_shared(settings.converter, RootConverterSettings),
        embedder=_shared(settings.embedder, RootEmbedderSettings),
    )


def _shared(whole: _Shared, part: type[_Shared]) -> _Shared:
    """Those keys of a table that a root may have too."""
    return part(**{field.name: getattr(whole, field.name) for field in dataclasses.fields(part)})
