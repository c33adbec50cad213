import json
import os
from pathlib import Path

import pytest

from ingestd.cli.init import configuration_for
from ingestd.settings import load

from .conftest import Run


def test_the_configuration_written_loads(run: Run, home: Path) -> None:
    (home / "docs").mkdir()
    code, out, _ = run("init", "docs")
    assert code == 0
    assert out.startswith(f"wrote {home}/ingestd.toml for {home}/docs\n")
    (root,) = load(home / "ingestd.toml").roots
    assert (root.name, root.path) == ("docs", home / "docs")


def test_the_working_directory_is_the_default_and_config_names_the_file(run: Run, home: Path) -> None:
    code, out, _ = run("--config", "my.toml", "init", "--json")
    assert code == 0
    assert json.loads(out) == {"schema": 1, "configuration": f"{home}/my.toml", "root": str(home)}


def test_the_variable_names_the_file_too(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGESTD_CONFIG", str(home / "other.toml"))
    code, out, _ = run("init", "--json")
    assert (code, json.loads(out)["configuration"]) == (0, f"{home}/other.toml")
    assert not (home / "ingestd.toml").exists()


def test_a_file_that_exists_is_kept(run: Run, home: Path) -> None:
    (home / "ingestd.toml").write_text("# mine")
    code, _, err = run("init")
    assert code == 2
    assert "exists already" in err
    assert (home / "ingestd.toml").read_text() == "# mine"


def test_a_missing_folder_and_a_place_that_cannot_be_written_are_refused(run: Run) -> None:
    assert run("init", "absent")[0] == 2
    code, _, err = run("--config", "absent/my.toml", "init")
    assert code == 2
    assert "cannot be written" in err


def test_odd_names_are_quoted(tmp_path: Path) -> None:
    folder = tmp_path / 'a "b" \\1\n\x7fé'
    folder.mkdir()
    file = tmp_path / "c.toml"
    file.write_text(configuration_for(folder), encoding="utf-8")
    assert load(file).roots[0].path == folder


def test_a_name_that_is_not_utf_8_is_refused_with_the_way_out(run: Run, home: Path) -> None:
    (home / os.fsdecode(b"\xff")).mkdir()
    code, _, err = run("init", os.fsdecode(b"\xff"))
    assert code == 2
    assert "\\xff is not UTF-8" in err
    assert "ingestd sync FOLDER" in err
