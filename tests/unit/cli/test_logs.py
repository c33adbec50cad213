import io
import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from ingestd.logs import PACKAGES, Log, configure


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The loggers as they were."""
    root = logging.getLogger()
    handlers, levels = root.handlers[:], {name: logging.getLogger(name).level for name in ("", *PACKAGES)}
    yield
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    logging.captureWarnings(capture=False)


def test_an_event_is_one_line_whatever_the_names_hold(capsys: pytest.CaptureFixture[str]) -> None:
    close = configure("info", "text")
    log = Log("ingestd.test").bind(document="d-1", version=2)
    log.info("document.committed", path=b"a\n\x1b[2J\xff.md", root="two words", empty="", quote='a"b', ratio=0.5)
    log.debug("step")
    close()
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO document\.committed document=d-1 version=2 "
        r'path=a\\n\\x1b\[2J\\xff\.md root="two words" empty="" quote="a\\"b" ratio=0\.5',
        line,
    )


def test_json_lines_hold_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug", "json")
    Log("ingestd.test").warning("store.slow", seconds=1.5, path=b"\xff", nothing=None)
    logging.getLogger("ingestd_adapters.x").debug("plain %s", "words", extra={"entry": "e"})
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert {key: first[key] for key in ("level", "event", "logger", "seconds", "path", "nothing")} == {
        "level": "warning",
        "event": "store.slow",
        "logger": "ingestd.test",
        "seconds": 1.5,
        "path": "\\xff",
        "nothing": None,
    }
    assert (second["event"], second["entry"]) == ("plain words", "e")


def test_a_traceback_follows_its_event(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "text")
    try:
        raise ValueError("a\x1bb")  # noqa: TRY301 - the traceback is what is tested
    except ValueError:
        Log("ingestd.test").exception("bug", stage="convert")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("ERROR bug stage=convert")
    assert lines[-1] == "  ValueError: a\\x1bb"


def test_other_packages_are_heard_from_warning_on(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug", "text")
    logging.getLogger("chatty").info("hello")
    logging.getLogger("chatty").warning("careful")
    assert "careful" in (err := capsys.readouterr().err)
    assert "hello" not in err


def test_a_reader_who_stopped_reading_does_not_stop_the_work() -> None:
    code = (
        "from ingestd.logs import Log, configure\n"
        "close = configure('info', 'text', background=True)\n"
        "log = Log('ingestd.test')\n"
        "for n in range(12_000): log.info('document.committed', padding='x' * 100)\n"
        "print('done', flush=True); close()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    # Nobody reads the standard error until the work is done.
    assert child.stdout.readline() == b"done\n"
    _, err = child.communicate(timeout=60)
    assert child.returncode == 0
    assert err.count(b"document.committed") < 12_000


def test_the_background_writes_all_before_it_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    close = configure("info", "text", background=True)
    for number in range(100):
        Log("ingestd.test").info("event", number=number)
    close()
    assert stream.getvalue().count("\n") == 100
    assert not any(thread.name == "ingestd-logs" for thread in threading.enumerate())


def test_a_closed_stderr_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    configure("info", "text")
    Log("ingestd.test").error("event")
    closed = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    Log("ingestd.test").error("event")
