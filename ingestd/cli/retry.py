"""``ingestd retry``: sources out of quarantine."""

from collections.abc import Iterator
from pathlib import Path

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation, named_paths
from ingestd.cli.owning import acted
from ingestd.cli.report import Answer, Document, Line, Part, unknown


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "retry",
        "take sources out of quarantine, to be tried again",
        "A running daemon tries them at once, the next `ingestd sync` otherwise.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("paths", nargs="*", type=Path, default=[], metavar="PATH", help="files, or folders of them")
    which.add_argument("--all", action="store_true", help="everything in quarantine")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Take sources out of quarantine."""
    given = invocation.arguments
    arguments = {"paths": named_paths(invocation, given.paths), "all": given.all}
    document = acted(invocation, "retry", arguments)
    # An owner of an earlier version did not say.
    amiss = bool(document.get("unknown"))
    return Answer(document=document, report=report, code=ExitCode.AMISS if amiss else ExitCode.DONE)


def report(document: Document) -> Iterator[Part]:
    """One line for each source that will be tried again."""
    for source in document["retried"]:
        yield Line(f"{source['root']}: {source['path']}: will be tried again")
    yield from unknown(document)
    if not document["retried"] and not document.get("unknown"):
        yield Line("nothing was in quarantine there: `ingestd status` lists what is")
