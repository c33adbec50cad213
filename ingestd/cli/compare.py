"""``ingestd compare``: one file through every installed converter, side by side."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestd.cli.arguments import Commands, add_command, add_json
from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.invocation import Invocation
from ingestd.cli.report import Answer
from ingestd.errors import IngestdError
from ingestd.model.source import display

if TYPE_CHECKING:
    # Import the converters' processes, which other commands have no use for.
    from ingestd.cli.trials import Subject
    from ingestd.convert import ConvertOptions


def add(commands: Commands) -> None:
    """Define the command."""
    parser = add_command(
        commands,
        "compare",
        "show what each installed converter makes of one file, side by side",
        "Each converts in a confined process of its own, under the configured limits. Coverage is what came through of "
        "the text that PDFium sees, or, of files that are no PDF, of the largest text that any converter gave. "
        "Changes nothing. The exit status is 0 when one converts the file, 1 when none does.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to convert")
    add_json(parser)


def run(invocation: Invocation) -> Answer:
    """Convert with each converter in turn; set the results beside each other."""
    from ingestd.cli.chunk import looked_into
    from ingestd.cli.comparison_report import report
    from ingestd.cli.trials import Subject
    from ingestd.convert import mime_of
    from ingestd.wiring.engines import convert_options

    options = convert_options(invocation.settings(absent_folders="allowed").converter)
    file = invocation.here / invocation.arguments.file
    head, size, _ = looked_into(file)
    name = os.fsencode(file.name)
    subject = Subject(path=file, name=display(name), mime=mime_of(name, head), size=size)
    document = comparison(subject, options)
    converts = any(entry["error"] is None for entry in document["converters"])
    return Answer(document=document, report=report, code=ExitCode.DONE if converts else ExitCode.AMISS)


def comparison(subject: "Subject", options: "ConvertOptions") -> dict[str, Any]:
    """What each converter that takes the file's type makes of it, JSON values only.

    Raises
    ------
    UnsupportedType
        When no installed converter takes the type.
    """
    from ingestd.cli.figures import characters, figures
    from ingestd.cli.trials import candidates, pdfium_characters, trial
    from ingestd.convert.choice import refusal

    found = candidates(subject.mime, options)
    if not found.names:
        raise refusal(subject.mime)
    yardstick = pdfium_characters(subject, options)
    by_pdfium = None if isinstance(yardstick, IngestdError) else yardstick
    trials = [trial(subject, name, options) for name in found.names]
    documents = [one.outcome for one in trials if not isinstance(one.outcome, IngestdError)]
    largest = max((characters(document) for document in documents), default=0)
    return {
        "file": subject.name,
        "mime": subject.mime,
        "size": subject.size,
        "pdfium": None if by_pdfium is None else {"pages": len(by_pdfium), "characters": sum(by_pdfium)},
        "converters": [figures(one, by_pdfium, largest) for one in trials],
        "unavailable": [{"converter": name, "reason": reason} for name, reason in found.unavailable],
    }
