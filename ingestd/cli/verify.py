"""``ingestd verify``: disk, ledger and store against each other."""

from collections.abc import Iterator

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.owning import acted
from ingestd.cli.report import Answer, Document, Line, Part, Table

_FINDINGS = {
    "missing_points": "points that the ledger serves, and the store lacks",
    "orphan_points": "points in the store that no document has",
    "stale_points": "points whose payload or version is not the served one",
    "unserved_sources": "files on disk that are neither served nor pending nor in quarantine",
    "ghost_documents": "documents served whose file is gone, with no removal held",
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
    yield Line(
        f"disk, ledger and store {verdict}: {document['documents']} documents, {document['points']} points",
        "good" if document["ok"] else "bad",
    )
    for kind, meaning in _FINDINGS.items():
        if found := document[kind]:
            yield Table(title=f"{len(found)} {meaning}", columns=("what",), rows=tuple((_named(one),) for one in found))


def _named(found: object) -> str:
    if isinstance(found, dict):
        return " ".join(f"{key}={value}" for key, value in found.items())  # pyright: ignore[reportUnknownVariableType]  # JSON
    return str(found)
