"""``ingestd forget``: documents out of the index."""

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
        "forget",
        "take documents out of the index, and keep them out until their file changes",
        "The files themselves are never touched; `touch FILE` brings one back at the next look. To keep a file out for "
        "good, exclude it in the configuration. A folder that `ingestd sync FOLDER` made a root is given up as a whole.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files, or folders of them")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Take documents out of the index."""
    arguments = {"paths": named_paths(invocation, invocation.arguments.paths)}
    document = acted(invocation, "forget", arguments)
    # An owner of an earlier version did not say.
    amiss = bool(document.get("unknown"))
    return Answer(document=document, report=report, code=ExitCode.AMISS if amiss else ExitCode.DONE)


def report(document: Document) -> Iterator[Part]:
    """One line for each document that was forgotten, one for each root that was given up."""
    dropped: list[str] = document.get("dropped") or []
    for source in document["forgotten"]:
        if source["root"] not in dropped:
            yield Line(f"{source['root']}: {source['path']}: forgotten until the file changes")
    for root in dropped:
        yield Line(
            f"{root}: no root any more, and nothing of it in the index; `ingestd sync` of the folder brings it back"
        )
    yield from unknown(document)
    if not document["forgotten"] and not dropped and not document.get("unknown"):
        yield Line("no document is served there: `ingestd status` shows the roots")
