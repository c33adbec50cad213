"""``ingestd confirm``: held removals."""

from collections.abc import Iterator

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.invocation import Invocation
from ingestd.cli.owning import acted
from ingestd.cli.report import Answer, Document, Line, Part, Table

_REASONS = {"mass-removal": "gone in one scan, and many at once: moved away or not mounted?"}


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "confirm",
        "let held removals happen",
        "Removals are held when a root vanished or was emptied, when one scan lost a large part of a root, and when a "
        "root or a rule left the configuration. Until they are confirmed, the documents stay searchable.",
    )
    parser.add_argument("root", nargs="?", metavar="ROOT", help="name of a root; default: all roots")
    parser.add_argument("--list", action="store_true", help="show what is held; change nothing")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Let held removals happen, or show them."""
    arguments = {"root": invocation.arguments.root, "list": invocation.arguments.list}
    return Answer(document=acted(invocation, "confirm", arguments), report=report)


def report(document: Document) -> Iterator[Part]:
    """What is held, or what was let go."""
    if confirmed := document.get("confirmed"):
        yield _table("confirmed: removed now where a daemon runs, else by the next `ingestd sync`", confirmed)
    if held := document.get("held"):
        yield _table("held", held)
    if not confirmed and not held:
        yield Line("no removal is held")


def _table(title: str, removals: list[dict[str, str | int | None]]) -> Table:
    rows = tuple(
        (removal["root"], removal["documents"], _REASONS.get(str(removal["reason"]), removal["reason"]))
        for removal in removals
    )
    return Table(title=title, columns=("root", "documents", "reason"), rows=rows)
