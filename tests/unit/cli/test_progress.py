import io
import sys

import pytest

from ingestd.cli.progress import progress_bars


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bars() as show:
        show({"stage": "convert", "done": 1, "total": 2})
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_each_stage_with_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bars() as show:
        show({"stage": "scan\x1b[2J", "done": 7, "total": None})
        show({"stage": "convert", "done": 1, "total": 2})
        show({"stage": "convert", "done": 2, "total": 2})
    text = terminal.getvalue()
    assert "convert" in text
    assert "2/2" in text
    assert "scan\\x1b[2J" in text
    assert "scan\x1b" not in text
