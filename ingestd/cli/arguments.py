"""Arguments that several commands share."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]  # argparse names the type nowhere else
else:
    Commands = object


def add_command(commands: "Commands", name: str, summary: str, description: str) -> argparse.ArgumentParser:
    """Parser of a command: the summary stands in the list of commands, both in the command's own help."""
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {description}".strip(),
        allow_abbrev=False,
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def add_adopt(parser: argparse.ArgumentParser) -> None:
    """``--adopt``."""
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="take over collections that another state directory of this instance claims; stop its owner first",
    )


def add_folders(parser: argparse.ArgumentParser) -> None:
    """``FOLDER…``, which may be other than UTF-8."""
    parser.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="only these: names or folders of configured roots, or other folders, which become roots of their own",
    )


_MOST = 2**31 - 1


def positive(text: str) -> int:
    """A whole number from 1 up, of 31 bits."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    if number > _MOST:
        raise argparse.ArgumentTypeError(f"{number} is over {_MOST}")
    return number
