"""``ingestd diff-chunks``: the boundaries that a chunker version moves."""

import argparse
import re
import shutil
import sys
from functools import partial
from pathlib import Path

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.boundary_report import comparison_document, report
from ingestd.cli.chunk import add_flags
from ingestd.cli.chunk_sides import SERVED, sides
from ingestd.cli.file_cuts import subject
from ingestd.cli.invocation import Invocation
from ingestd.cli.report import Answer

_VERSION = re.compile(r"v?([0-9]{1,9})|compat|served")


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "diff-chunks",
        "show the boundaries that a chunker version moves in one file",
        "V is a number, such as 2 or v2: that version of the native chunker; compat: the published behaviour that the "
        "chunker follows; or served: what the store holds of FILE now. What is not given is as configured for the root "
        "of FILE. Changes nothing. Differences are no failure: the exit status is 0 with and without them, and "
        '"same" in the JSON tells.',
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the file whose chunks are compared")
    parser.add_argument(
        "--from", dest="before", type=_version, default=SERVED, metavar="V", help="before; default: %(default)s"
    )
    parser.add_argument(
        "--to", dest="after", type=_version, metavar="V", help="after; default: the version that is configured"
    )
    add_flags(parser)
    add_json(parser)


def _version(text: str) -> str:
    found = _VERSION.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no version: give a number, compat or served")
    return str(int(found[1])) if found[1] else text


def run(invocation: Invocation) -> Answer:
    """Chunk the file both ways, or take what is served; compare."""
    compared = sides(subject(invocation), invocation.arguments.before, invocation.arguments.after)
    # Lines that are piped are not cut, but for what each tells of its chunk.
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return Answer(document=comparison_document(compared), report=partial(report, columns=columns))
