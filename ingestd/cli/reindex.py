"""``ingestd reindex``: all served documents by the present recipe."""

from collections.abc import Iterator
from typing import Any

from ingestd.cli import sync
from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.owning import acted
from ingestd.cli.progress import progress_bars
from ingestd.cli.report import Answer, Document, Line, Part, Table, counted

_COSTS = {
    "convert": ("file", "to convert"),
    "chunk": ("document", "to chunk"),
    "embed": ("text", "to embed"),
    "write": ("point", "to write"),
    "delete": ("point", "to delete"),
}

_NAMED = 5


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "reindex",
        "bring every served document to the present recipe",
        "After another chunker, converter or size: converts only what the new recipe converts otherwise, embeds only "
        "texts never seen, document by document, while the old version of each is served. A killed run goes on where "
        "it stopped.",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done and what it costs; change nothing"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="build collections whose embedder changed anew, beside the old vectors, which are served until that is done",
    )
    parser.add_argument("--root", action="append", metavar="NAME", help="only this root; may be repeated")
    parser.add_argument("--collection", action="append", metavar="NAME", help="only this collection; may be repeated")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Reindex, by the daemon where one runs."""
    given = invocation.arguments
    arguments: dict[str, Any] = {
        "dry_run": given.dry_run,
        "force": given.force,
        "root": given.root or [],
        "collection": given.collection or [],
    }
    with progress_bars() as progress:
        document = acted(invocation, "reindex", arguments, timeout_seconds=None, progress=progress)
    return Answer(document=document, report=report, code=ExitCode.DONE if given.dry_run else sync.code_of(document))


def report(document: Document) -> Iterator[Part]:
    """What was done, or with ``--dry-run`` (the contract's ``plan`` document) what would be."""
    if "totals" in document:
        yield from _plan(document)
        return
    yield Line(f"reindex, {document['mode']}")
    yield from sync.report(document)


def _plan(document: Document) -> Iterator[Part]:
    due = [row for row in document["documents"] if row["action"] != "none"]
    if due:
        yield Table(
            columns=("root", "path", "action", "why"),
            rows=tuple((row["root"], row["path"], row["action"], row["why"]) for row in due),
        )
    if rebuilt := document.get("rebuild"):
        yield Line(f"another embedder: {', '.join(rebuilt)} has to be rebuilt with --force", "bad")
    if lost := document.get("left_behind"):
        named = ", ".join(f"{one['root']}: {one['path']}" for one in lost[:_NAMED])
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        yield Line(
            f"{counted(len(lost), 'document')} left behind, served without their file and not in the cache: {named}{more}",
            "bad",
        )
    about = "about " if document.get("estimated") else ""
    totals = document["totals"]
    costs = ", ".join(f"{about}{counted(totals[cost], noun)} {todo}" for cost, (noun, todo) in _COSTS.items())
    if due or document.get("rebuild"):
        yield Line(f"{counted(len(due), 'document')}: {costs}", "strong")
    else:
        yield Line("every document is by the present recipe: nothing to do", "good")
