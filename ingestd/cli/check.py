"""``ingestd check``: what would keep the daemon from its work."""

from collections.abc import Iterator

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.report import Answer, Document, Line, Part


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "check",
        "check configuration, folders, adapters, models, store, disk and versions",
        "Says all that is wrong, a line each, with the way out; changes nothing. Exit status 1 when something is amiss.",
    )
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Look at everything."""
    # Here, because the other commands have no use for it.
    from ingestd.cli import inspection

    subjects = list(inspection.findings(invocation))
    document = {
        "ok": not any(subject.amiss for subject in subjects),
        "configuration": str(invocation.configuration) if invocation.configuration else None,
        "state_dir": str(invocation.state_dir),
        "findings": [
            {"subject": subject.subject, "ok": not subject.amiss, "message": subject.message} for subject in subjects
        ],
        "versions": inspection.versions(),
    }
    return Answer(document=document, report=report, code=ExitCode.DONE if document["ok"] else ExitCode.AMISS)


def report(document: Document) -> Iterator[Part]:
    """A line for each subject, what is amiss last."""
    for finding in sorted(document["findings"], key=lambda finding: not finding["ok"]):
        mark = "ok   " if finding["ok"] else "AMISS"
        yield Line(f"{mark}  {finding['subject']}: {finding['message']}", "plain" if finding["ok"] else "bad")
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    yield Line(f"versions: {versions}", "faint")
    amiss = sum(not finding["ok"] for finding in document["findings"])
    yield Line(f"{amiss} amiss" if amiss else "all well", "bad" if amiss else "good")
