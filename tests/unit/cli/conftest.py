from collections.abc import Callable
from pathlib import Path

import pytest

from ingestd.__main__ import main

Run = Callable[..., "tuple[int, str, str]"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: no test sees the user's configuration or touches the user's state."""
    folder = tmp_path / "home"
    folder.mkdir()
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "INGESTD_CONFIG", "INGESTD_STATE_DIR", "INGESTD_FAILPOINT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in the home; gives exit status, standard output, standard error."""

    def in_home(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return in_home
