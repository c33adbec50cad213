"""What ``ingestd search`` refuses before it asks anybody."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run


@pytest.mark.parametrize("arguments", [("\udcff",), ("word", "--root", "\udcff"), ("word", "--tag", "\udcff")])
def test_words_that_are_not_utf_8_are_refused_with_the_way_out(run: Run, arguments: tuple[str, ...]) -> None:
    status, out, _ = run("search", *arguments, "--json")
    assert status == 2
    assert "LC_ALL=C.UTF-8" in json.loads(out)["error"]["message"]
    out.encode("utf-8", "strict")


def test_a_state_without_anything_says_how_to_begin(run: Run) -> None:
    status, _, err = run("search", "word")
    assert status == 2
    assert "run `ingestd sync FOLDER` first" in err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--path", ""], "--path is empty"),
        (["--root", ""], "--root is empty"),
        (["--limit", "99999999999999999999"], "is over 2147483647"),
    ],
)
def test_a_flag_without_meaning_is_refused_by_name(run: Run, flags: list[str], message: str) -> None:
    code, _, err = run("search", *flags, "anything")
    assert code == 2
    assert message in err


@pytest.mark.parametrize("command", [("status",), ("search", "word"), ("sync",), ("check",)])
def test_a_state_directory_that_is_a_file_is_refused(run: Run, home: Path, command: tuple[str, ...]) -> None:
    (home / "state").write_text("")
    code, _, err = run("--state-dir", str(home / "state"), *command)
    assert code == 2
    assert f"the state directory {home / 'state'} is no directory" in err
