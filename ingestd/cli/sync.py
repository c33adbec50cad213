"""``ingestd sync``: one pass over the roots."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingestd.cli.arguments import Commands, add_adopt, add_command, add_folders, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.owning import acted
from ingestd.cli.progress import progress_bars
from ingestd.cli.report import Answer, Document, Line, Part, Table, counted


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "sync",
        "bring the index up to date once, then leave",
        "Scans the roots, does all that is due, waits for files that still settle, and leaves when nothing is pending. "
        "A running daemon does the work where there is one; another pass on the same state is waited for. Exit status 1 when sources failed or removals are held.",
    )
    add_folders(parser)
    add_adopt(parser)
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """One pass, by the daemon where one runs."""
    folders = [folders_named(invocation, folder) for folder in invocation.arguments.folders]
    arguments = {"folders": [os.fsdecode(folder) for folder in folders]}
    with progress_bars() as progress:
        document = acted(invocation, "sync", arguments, timeout_seconds=None, progress=progress)
    return Answer(document=document, report=report, code=code_of(document))


def folders_named(invocation: Invocation, folder: Path) -> Path:
    """Absolute path of a folder, or of the configured root of that name."""
    absolute = invocation.here / folder
    if not absolute.exists():
        for root in invocation.settings(absent_folders="allowed").roots:
            if root.name == str(folder):
                return root.path
    return absolute


def code_of(document: Document) -> ExitCode:
    """Exit status that a ``sync`` document asks for."""
    if document["stopped"]:
        return ExitCode.INTERRUPTED
    kinds = ("failed", "deferred", "held", "paused", "vanished", "unread")
    amiss = any(document.get(kind) for kind in kinds)
    return ExitCode.AMISS if amiss else ExitCode.DONE


def report(document: Document) -> Iterator[Part]:
    """What the pass did, from the contract's ``sync`` document."""
    yield Line(_sources(document), "strong")
    yield Line(_work(document), "plain")
    yield Line(_time(document), "faint")
    yield from failures(document["failed"])
    yield from deferrals(document["deferred"])
    for root in document.get("vanished", ()):
        yield Line(f"{root['root']}: vanished: {root['reason']}", "bad")
    for one in document.get("unread", ()):
        yield Line(f"{one['root']}: {one['path'] or '.'}: not looked into: {one['reason']}", "bad")
    if held := document["held"]:
        yield Line(
            f"{counted(held, 'removal')} held: `ingestd confirm --list` shows what, `ingestd confirm` lets it happen",
            "bad",
        )
    yield from stale_served(document["stale_served"])
    if paused := document.get("paused"):
        yield Line(
            f"{', '.join(paused)} waits for `ingestd reindex --force`: the embedder is another one than its vectors are "
            "from",
            "bad",
        )
    yield from stale_hint(document.get("stale", 0))
    if document.get("stopped"):
        yield Line("stopped before all was done: run it again to go on", "bad")


def stale_served(count: int) -> Iterator[Line]:
    """That documents are served although their files fail now."""
    if count:
        yield Line(f"{counted(count, 'document')} served in the last good version", "bad")


def stale_hint(count: int, root: str = "") -> Iterator[Line]:
    """That documents were made by another recipe, and what brings them up to date."""
    if count:
        what = f"{root}: " if root else ""
        yield Line(
            f"{what}{counted(count, 'document')} made by another recipe: `ingestd reindex --dry-run` says what bringing "
            "them up to date costs",
            "faint",
        )


def failures(failed: list[Mapping[str, Any]]) -> Iterator[Part]:
    """Sources in quarantine, with the way out."""
    if failed:
        yield Table(
            title="failed",
            columns=("root", "path", "stage", "error", "reason"),
            rows=tuple((f["root"], f["path"], f["stage"], f["error"], f["reason"]) for f in failed),
            spare=("stage",),
        )
        yield Line("they are tried again when the file or the recipe changes, or after `ingestd retry PATH`", "faint")


def deferrals(deferred: list[Mapping[str, Any]]) -> Iterator[Part]:
    """Sources that wait for another attempt."""
    if deferred:
        yield Table(
            title="put off",
            columns=("root", "path", "try again", "reason"),
            rows=tuple((d["root"], d["path"], d["retry_at"], d["reason"]) for d in deferred),
        )


def _sources(document: Document) -> str:
    words = ("added", "changed", "moved", "removed", "unchanged", "ignored")
    counts = ", ".join(f"{document[word]} {word}" for word in words if document[word])
    return f"{counted(document['seen'], 'file')} seen: {counts or 'nothing to do'}"


def _work(document: Document) -> str:
    return (
        f"{document['converted']} converted ({counted(document['conversions_reused'], 'conversion')} reused), "
        f"{counted(document['chunks'], 'chunk')}, {document['embedded']} embedded "
        f"({counted(document['vectors_reused'], 'vector')} reused), "
        f"{counted(document['points_written'], 'point')} written, {document['points_deleted']} deleted"
    )


def _time(document: Document) -> str:
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in document["stage_seconds"].items())
    return f"{document['seconds']:.1f} s" + (f" ({stages})" if stages else "")
