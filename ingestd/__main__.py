"""The program's start and end: arguments in, exit status out."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingestd import failpoints
from ingestd.cli.exit_codes import ExitCode, exit_code_of
from ingestd.cli.invocation import Invocation
from ingestd.cli.output import show, written
from ingestd.cli.parser import COMMANDS, command_line
from ingestd.cli.report import Answer, Document, Line
from ingestd.errors import IngestdError
from ingestd.logs import Log, configure
from ingestd.model.source import printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments
        Without the program's name; ``None``: those of the process.

    Returns
    -------
    int
        The exit status.
    """
    _open_streams()
    try:
        parsed = command_line().parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    daemon = parsed.command == "run"
    finish_log = configure(
        parsed.log_level or ("info" if daemon else "warning"), parsed.log_format or "text", background=daemon
    )
    try:
        return _run(Invocation(arguments=parsed, environment=os.environ, here=Path.cwd()))
    finally:
        finish_log()


def _open_streams() -> None:
    """Open the standard streams that are closed, to nowhere; else files opened later get their numbers, and what is printed."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python puts None where a stream was closed at the start.
    if sys.stdout is None or sys.stderr is None:
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere


def _run(invocation: Invocation) -> int:
    """Run the command; whatever escapes it becomes an exit status here, nowhere else."""
    command: str = invocation.arguments.command
    try:
        failpoints.arm(
            invocation.environment.get(failpoints.VARIABLE, ""),
            invocation.environment.get(failpoints.TRACE_VARIABLE, ""),
        )
        outcome: Answer | ExitCode = COMMANDS[command].run(invocation)
        return _shown(outcome, invocation) if isinstance(outcome, Answer) else outcome
    except IngestdError as error:
        return _refused(error, exit_code_of(error), invocation)
    except KeyboardInterrupt:
        sys.stderr.write("ingestd: interrupted\n")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the command line's end: a bug gets a status and its traceback a line in the log
        Log("ingestd").exception("bug", command=command)
        return _refused(error, ExitCode.BUG, invocation)


def _shown(answer: Answer, invocation: Invocation) -> ExitCode:
    with written(sys.stdout):
        show(answer, as_json=_wants_json(invocation), stream=sys.stdout)
    return answer.code


def _refused(error: Exception, code: ExitCode, invocation: Invocation) -> ExitCode:
    """Say why on stderr; a program that asked for JSON gets its one document all the same."""
    text = str(error) or type(error).__name__
    if code is ExitCode.BUG:
        text = f"this is a bug in ingestd ({type(error).__name__}: {text}); the traceback is in the log"
    for line in text.splitlines():
        sys.stderr.write(f"ingestd: {printable(line)}\n")
    if _wants_json(invocation):
        document: Document = {"error": {"type": type(error).__name__, "message": text}}
        with suppress(IngestdError):
            _shown(Answer(document=document, report=lambda _: [Line(text)], code=code), invocation)
    return code


def _wants_json(invocation: Invocation) -> bool:
    wanted: Any = getattr(invocation.arguments, "json", False)
    return bool(wanted)


if __name__ == "__main__":
    sys.exit(main())
