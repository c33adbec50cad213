"""``ingestd status``: what is served, pending, failed."""

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ingestd.cli import sync
from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.output import show
from ingestd.cli.owning import asked_owner, status_without_owner
from ingestd.cli.report import Answer, Document, Line, Part, Table, counted


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "status",
        "show roots, documents, queues, generations and quarantine",
        "Works with and without a running daemon.",
    )
    parser.add_argument("--watch", action="store_true", help="draw it again every two seconds, until interrupted")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """The state, from the daemon where one runs, else from the ledger's file."""
    answer = _answer(invocation)
    while invocation.arguments.watch:
        try:
            show(answer, as_json=invocation.arguments.json, stream=sys.stdout, fitted=True)
        except OSError:
            # Nobody can look any more; how that ends is for the last showing to say, as in every command.
            return answer
        time.sleep(WATCH_SECONDS)
        answer = _answer(invocation)
    return answer


WATCH_SECONDS = 2.0
_UNREAD = "unsupported type"


def _answer(invocation: Invocation) -> Answer:
    document = asked_owner(invocation, "status", {}, timeout_seconds=10.0) or status_without_owner(invocation)
    amiss = document["quarantine"] or document["held"] or any(_paused(document))
    return Answer(document=document, report=report, code=ExitCode.AMISS if amiss else ExitCode.DONE)


def report(document: Document) -> Iterator[Part]:
    """The state, from the contract's ``status`` document."""
    yield _daemon(document["daemon"])
    yield _roots(document["roots"])
    busy = {name: waiting for name, waiting in document["queues"].items() if waiting}
    if busy:
        yield Line("queues: " + ", ".join(f"{name} {waiting}" for name, waiting in busy.items()))
    if document["generations"]:
        yield _generations(document["generations"])
    yield from _paused(document)
    yield from sync.failures(document["quarantine"])
    yield from sync.stale_served(sum(bool(one.get("stale_served")) for one in document["quarantine"]))
    yield from sync.deferrals(document.get("deferred") or [])
    for root in document["roots"]:
        yield from _attention(root)


def _paused(document: Document) -> Iterator[Line]:
    for one in document["generations"]:
        if one["state"] == "needs-reindex":
            yield Line(f"{one['collection']}: {one['state']}: {one.get('reason')}", "bad")


def _daemon(daemon: Mapping[str, Any]) -> Line:
    if working := daemon.get("working"):
        doing = f"does `ingestd {working['command']}`" if working.get("command") else "works on it"
        return Line(f"no daemon runs on this state; process {working['pid']} {doing} since {working['since']}")
    if not daemon["running"]:
        return Line("no daemon runs on this state", "faint")
    return Line(f"the daemon runs (process {daemon['pid']}, since {daemon['since']})", "good")


def _roots(roots: list[Mapping[str, Any]]) -> Part:
    if not roots:
        return Line("no roots: add [[root]] to the configuration, or run `ingestd sync FOLDER`")
    fields = ("name", "state", "documents", "chunks", "pending", "quarantined", "collection", "last_scan", "path")
    return Table(
        columns=tuple(field.replace("_", " ") for field in fields),
        rows=tuple(tuple(root.get(field) for field in fields) for root in roots),
        spare=("last scan", "collection"),
    )


def _generations(generations: list[Mapping[str, Any]]) -> Table:
    return Table(
        title="generations",
        columns=("collection", "generation", "state", "points", "recipe"),
        rows=tuple(
            (g["collection"], g["generation"], g["state"], g["points"], str(g["recipe"])[:12]) for g in generations
        ),
    )


def _attention(root: Mapping[str, Any]) -> Iterator[Line]:
    if root.get("reason"):
        yield Line(f"{root['name']}: {root['state']}: {root['reason']}", "bad")
    for note in root.get("notes") or ():
        yield Line(f"{root['name']}: {note['path']} is left out: {note['reason']}", "faint")
    if unread := root.get("ignored", {}).get(_UNREAD):
        yield Line(
            f"{root['name']}: {counted(unread, 'file')} of a type that nothing reads: `ingestd show FILE` says why, "
            "`ingestd check` what is read",
            "faint",
        )
    if forgotten := root.get("forgotten"):
        yield Line(
            f"{root['name']}: {counted(forgotten, 'document')} forgotten, until the file changes or is touched", "faint"
        )
    if root.get("held"):
        yield Line(f"{root['name']}: {counted(root['held'], 'removal')} held: `ingestd confirm {root['name']}`", "bad")
    yield from sync.stale_hint(root.get("stale") or 0, root["name"])
