import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ingestd import errors
from ingestd.children import ChildDied
from ingestd.cli import parser
from ingestd.cli.exit_codes import ExitCode, exit_code_of
from ingestd.cli.invocation import Invocation
from ingestd.cli.parser import COMMANDS, command_line
from ingestd.cli.report import Answer, Line

from .conftest import Run


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A command whose outcome the test decides, in the place of ``status``."""
    command = ModuleType("probe")
    command.add = parser.status.add  # type: ignore[attr-defined]
    monkeypatch.setitem(parser.COMMANDS, "status", command)
    return command  # type: ignore[return-value]


def raising(error: BaseException):
    def run(_invocation: Invocation) -> Answer:
        raise error

    return run


def answering(answer: Answer):
    return lambda _invocation: answer


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ConfigurationError("a\nb"), 2),
        (errors.AdapterUnavailable("x"), 2),
        (errors.StoreMismatch("x"), 2),
        (errors.StateUnusable("x"), 2),
        (errors.StateLocked("x"), 75),
        (errors.StoreUnavailable("x"), 75),
        (errors.OutOfSpace("x"), 75),
        (errors.PdfEncrypted("x"), 1),
        (ChildDied("store", -9), 75),
    ],
)
def test_each_error_has_its_exit_status(run: Run, probe: ModuleType, error: errors.IngestdError, status: int) -> None:
    probe.run = raising(error)
    code, out, err = run("status")
    assert (code, out) == (status, "")
    assert err == "".join(f"ingestd: {line}\n" for line in str(error).splitlines())
    assert exit_code_of(error) == status


def test_a_bug_exits_3_with_its_traceback_in_the_log(run: Run, probe: ModuleType) -> None:
    probe.run = raising(ZeroDivisionError("division\x1b[31m"))
    code, _, err = run("status", "--log-format", "json")
    assert code == 3
    record = json.loads(err.splitlines()[0])
    assert (record["event"], record["command"]) == ("bug", "status")
    assert "ZeroDivisionError" in record["traceback"]
    assert "ingestd: this is a bug in ingestd (ZeroDivisionError: division\\x1b[31m)" in err


def test_a_failing_report_is_a_bug_too(run: Run, probe: ModuleType) -> None:
    probe.run = answering(Answer(document={}, report=lambda document: [Line(document["absent"])]))
    assert run("status")[0] == 3


def test_an_interrupt_exits_130(run: Run, probe: ModuleType) -> None:
    probe.run = raising(KeyboardInterrupt())
    assert run("status")[0] == 130


def test_json_is_one_document_even_of_an_error(run: Run, probe: ModuleType) -> None:
    probe.run = raising(errors.StateLocked("held by 7"))
    code, out, _ = run("status", "--json")
    assert code == 75
    assert json.loads(out) == {"schema": 1, "error": {"type": "StateLocked", "message": "held by 7"}}


def test_an_answer_is_shown_with_its_status(run: Run, probe: ModuleType) -> None:
    probe.run = answering(
        Answer(document={"held": 1}, report=lambda document: [Line(f"{document['held']} held")], code=ExitCode.AMISS)
    )
    assert run("status") == (1, "1 held\n", "")
    code, out, _ = run("status", "--json")
    assert (code, json.loads(out)) == (1, {"schema": 1, "held": 1})


def test_global_flags_may_stand_before_and_after_the_command() -> None:
    before = command_line().parse_args(["--state-dir", "a", "--log-level", "debug", "sync"])
    after = command_line().parse_args(["sync", "--state-dir", "a", "--log-level", "debug"])
    assert before == after
    assert command_line().parse_args(["sync"]).state_dir is None


@pytest.mark.parametrize(
    "arguments", [[], ["syncx"], ["sync", "--jsn"], ["search"], ["retry"], ["search", "q", "--limit", "0"]]
)
def test_wrong_usage_exits_2(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage: ingestd" in err


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_every_command_has_help(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: ingestd")


def test_every_argument_is_explained() -> None:
    line = command_line()
    (commands,) = (action for action in line._actions if isinstance(action, argparse._SubParsersAction))
    assert list(commands.choices) == list(COMMANDS)
    for name, command in commands.choices.items():
        assert all(action.help for action in command._actions), name


def test_a_missing_configuration_is_named(run: Run, home: Path) -> None:
    code, _, err = run("--config", "absent.toml", "check")
    assert code == 2
    assert f"--config names {home}/absent.toml" in err


def test_a_reader_that_leaves_is_no_error(home: Path) -> None:
    (home / "docs").mkdir()
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "ingestd", "init", "docs"]
    with os.fdopen(writing, "w") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_leaves_in_the_middle_of_the_chunks_is_no_error(home: Path) -> None:
    (home / "a.md").write_text("\n\n".join(f"# {number}\n\nText of number {number}." for number in range(2000)))
    command = [sys.executable, "-m", "ingestd", "chunk", "--embedder", "noop", "a.md"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_full_output_is_no_bug(home: Path, flags: list[str]) -> None:
    (home / "docs").mkdir()
    command = [sys.executable, "-m", "ingestd", "init", *flags, "docs"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 75
    assert done.stderr == "ingestd: standard output cannot be written (No space left on device): send it elsewhere\n"


def test_closed_streams_are_no_bug(home: Path) -> None:
    command = f"exec {sys.executable} -m ingestd status >&- 2>&- <&-"
    assert subprocess.run(["/bin/sh", "-c", command], check=False).returncode == 0
    command = f"exec {sys.executable} -m ingestd search x >&-"
    done = subprocess.run(["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "nothing is indexed yet" in done.stderr


def test_a_start_imports_nothing_heavy(home: Path) -> None:
    code = (
        "import sys; from ingestd.__main__ import main; main(['--help']);"
        "heavy = {'numpy', 'rich', 'pydantic', 'sqlalchemy', 'alembic', 'qdrant_client', 'importlib.metadata'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
