"""The page about the library is true: its programs run and print what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MARK = "-- the next program --"


def test_every_program_says_what_it_prints() -> None:
    assert len(PROGRAMS) == PAGE.count("```python") > 5


def test_the_programs_print_what_the_page_says() -> None:
    pytest.importorskip("opentelemetry.sdk", reason="the SDK that keeps spans is not installed")
    script = f"print({MARK!r})\n".join(program for program, _ in PROGRAMS)
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(f"{MARK}\n") == [printed for _, printed in PROGRAMS]
