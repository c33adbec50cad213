"""One call of the command line: its arguments, and the places that they name."""

import argparse
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ingestd.errors import ConfigurationError
from ingestd.settings import Settings, configuration_file, load, state_directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What a command gets to know."""

    arguments: argparse.Namespace
    environment: Mapping[str, str]
    here: Path
    """The working directory."""

    @property
    def configuration(self) -> Path | None:
        """The configuration file in force; raises ``ConfigurationError`` where a named one is missing."""
        return configuration_file(self.arguments.config, self.environment, self.here)

    @property
    def state_dir(self) -> Path:
        """The state directory, which need not exist yet; raises ``ConfigurationError`` where something else stands."""
        found = state_directory(self.arguments.state_dir, self.environment, self.here, self.configuration)
        if os.path.lexists(found) and not found.is_dir():
            raise ConfigurationError(f"the state directory {found} is no directory: name another with --state-dir")
        return found

    def settings(self, *, absent_folders: Literal["refused", "allowed"] = "refused") -> Settings:
        """The settings in force; raises ``ConfigurationError`` with all findings."""
        return load(self.configuration, environment=self.environment, absent_folders=absent_folders)


def named_paths(invocation: Invocation, paths: Iterable[Path]) -> list[str]:
    """Paths as the owner takes them: absolute where a file is there from here, else as given, relative to a root."""
    return [
        os.path.abspath(invocation.here / path)  # noqa: PTH100  links are not followed
        if path.is_absolute() or os.path.lexists(invocation.here / path)
        else str(path)
        for path in paths
    ]
