"""``ingestd init``: a commented configuration for a folder."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ingestd import resources
from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.invocation import Invocation
from ingestd.cli.report import Answer, Document, Line, Part
from ingestd.errors import ConfigurationError
from ingestd.model.source import display
from ingestd.settings import Settings, root_for
from ingestd.settings.places import CONFIG_VARIABLE

FILE_NAME = "ingestd.toml"


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "init",
        "write a commented configuration for a folder",
        f"The file is the one that --config or $INGESTD_CONFIG names, ./{FILE_NAME} otherwise; it is never overwritten.",
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="DIR", help="the folder to watch; default: the working directory"
    )
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Write the file."""
    arguments = invocation.arguments
    folder = _absolute(arguments.folder or Path(), invocation.here)
    named = arguments.config or invocation.environment.get(CONFIG_VARIABLE) or FILE_NAME
    file = _absolute(Path(named), invocation.here)
    if not folder.is_dir():
        raise ConfigurationError(f"{display(os.fsencode(folder))} is not a folder: make it first, or name another")
    _write(file, configuration_for(folder))
    return Answer(document={"configuration": str(file), "root": str(folder)}, report=report)


def report(document: Document) -> Iterator[Part]:
    """Where the file is, and what comes next."""
    yield Line(f"wrote {document['configuration']} for {document['root']}")
    yield Line("next: ingestd check, then ingestd sync or ingestd run")


def configuration_for(folder: Path) -> str:
    """Text of the example configuration with the folder as its only root.

    Raises
    ------
    ConfigurationError
        When the folder's path is not UTF-8, which TOML cannot hold.
    """
    path = str(folder)
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"{display(os.fsencode(folder))} is not UTF-8 and cannot stand in a TOML file: rename it, or index it with "
            "`ingestd sync FOLDER`, which needs no file"
        ) from error
    text = resources.shipped("config.example.toml").read_text(encoding="utf-8")
    text = _with_value(text, "name", root_for(folder, Settings(), ()).name)
    return _with_value(text, "path", path)


def _with_value(text: str, key: str, value: str) -> str:
    line = f"{key} = {_quoted(value)}"
    return re.sub(rf'^{key} = ".*"$', lambda _: line, text, flags=re.MULTILINE)


def _quoted(text: str) -> str:
    """Basic string of TOML; it differs from JSON's only in the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _absolute(path: Path, here: Path) -> Path:
    return Path(os.path.abspath(here / path.expanduser()))  # noqa: PTH100 - resolve() would follow links


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError as error:
        raise ConfigurationError(f"{file} exists already: edit it, or name another with --config") from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written ({error.strerror}): name another with --config") from error
