"""``ingestd verify``: disk, ledger and store against each other."""

from collections.abc import Iterator
from typing import Any

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.owning import acted
from ingestd.cli.report import Answer, Document, Line, Part, Table, counted

_FINDINGS = {
    "missing_points": ("point", "that the ledger serves, and the store lacks"),
    "orphan_points": ("point", "in the store that no document has"),
    "stale_points": ("point", "not as served: `ingestd forget` of the path, then `touch` it and `ingestd sync`"),
    "unserved_sources": ("file", "on disk to be taken up: `ingestd sync` does it"),
    "ghost_documents": ("document", "served whose file is gone, with no removal held: `ingestd sync` sees to it"),
    "unread": ("folder", "that cannot be looked into, so that what is in it is not compared: see the reason"),
}


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "verify",
        "compare disk, ledger and store, point by point",
        "Changes nothing. Exit status 1 when they differ.",
    )
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Compare disk, ledger and store."""
    document = acted(invocation, "verify", {}, timeout_seconds=None)
    return Answer(document=document, report=report, code=ExitCode.DONE if document["ok"] else ExitCode.AMISS)


def report(document: Document) -> Iterator[Part]:
    """The verdict, then a table for each kind of difference."""
    verdict = "are one" if document["ok"] else "differ"
    served = f"{counted(document['documents'], 'document')}, {counted(document['points'], 'point')}"
    yield Line(f"disk, ledger and store {verdict}: {served}", "good" if document["ok"] else "bad")
    for kind, (noun, meaning) in _FINDINGS.items():
        if found := document.get(kind):
            yield _table(f"{counted(len(found), noun)} {meaning}", found)


def _table(title: str, found: list[dict[str, Any]]) -> Table:
    """A column for each field that any of them has; the Base64 of a path is for programs."""
    columns = tuple(key for key in dict.fromkeys(key for one in found for key in one) if key != "path_b64")
    return Table(title=title, columns=columns, rows=tuple(tuple(one.get(key) for key in columns) for one in found))
