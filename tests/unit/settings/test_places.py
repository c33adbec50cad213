from pathlib import Path

import pytest

from ingestd.errors import ConfigurationError
from ingestd.settings import configuration_file, state_directory


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), **more}


def test_the_flag_goes_before_the_variable_and_that_before_the_folder(tmp_path: Path) -> None:
    for name in ("flag.toml", "variable.toml", "ingestd.toml"):
        (tmp_path / name).touch()
    with_variable = environment(tmp_path, INGESTD_CONFIG=str(tmp_path / "variable.toml"))
    assert configuration_file("flag.toml", with_variable, tmp_path) == tmp_path / "flag.toml"
    assert configuration_file(None, with_variable, tmp_path) == tmp_path / "variable.toml"
    assert configuration_file(None, environment(tmp_path), tmp_path) == tmp_path / "ingestd.toml"


def test_the_users_configuration_is_found(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".config" / "ingestd" / "config.toml"
    file.parent.mkdir(parents=True)
    file.touch()
    assert configuration_file(None, environment(tmp_path), tmp_path) == file
    relative = environment(tmp_path, XDG_CONFIG_HOME="not/absolute")
    assert configuration_file(None, relative, tmp_path) == file


@pytest.mark.parametrize("named", ["flag", "variable"])
def test_a_named_file_that_is_missing_is_refused(tmp_path: Path, named: str) -> None:
    flag = "absent.toml" if named == "flag" else None
    variables = environment(tmp_path, INGESTD_CONFIG="absent.toml")
    with pytest.raises(ConfigurationError, match=r"absent\.toml, which is not a file.*ingestd init"):
        configuration_file(flag, variables, tmp_path)


def test_the_state_is_named_after_the_configurations_path(tmp_path: Path) -> None:
    variables = environment(tmp_path, XDG_STATE_HOME=str(tmp_path / "state"))
    one = state_directory(None, variables, tmp_path, tmp_path / "a" / "my config.toml")
    other = state_directory(None, variables, tmp_path, tmp_path / "b" / "my config.toml")
    assert one.parent == other.parent == tmp_path / "state" / "ingestd"
    assert one != other
    assert one.name.startswith("my_config-")
    assert len(one.name) == len("my_config-") + 8


def test_without_a_configuration_the_state_is_the_default_one(tmp_path: Path) -> None:
    expected = tmp_path / "home" / ".local" / "state" / "ingestd" / "default"
    assert state_directory(None, environment(tmp_path), tmp_path, None) == expected


def test_a_named_state_directory_wins(tmp_path: Path) -> None:
    variables = environment(tmp_path, INGESTD_STATE_DIR="from-variable")
    assert state_directory(None, variables, tmp_path, tmp_path / "x.toml") == tmp_path / "from-variable"
    assert state_directory("from-flag", variables, tmp_path, None) == tmp_path / "from-flag"
