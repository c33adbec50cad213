"""What seldom happens, from one end to the other."""

import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestd.__main__ import main
from ingestd.errors import ConfigurationError
from ingestd.settings import RootEmbedderSettings, RootSettings
from tests.system.conftest import Program, sections

Write = Callable[..., Path]


def configured(program: Program, *roots: RootSettings) -> Program:
    return program.with_settings(roots=roots)


def root(program: Program, name: str = "docs", **options: object) -> RootSettings:
    embedder = RootEmbedderSettings(name="hash")
    return RootSettings(name=name, path=program.folder, embedder=embedder, **options)  # type: ignore[arg-type]


def test_a_root_that_is_renamed_tagged_and_moved_to_another_collection_embeds_nothing(
    program: Program, write: Write
) -> None:
    write("a.md", sections("one", "two"))
    write("b.md", sections("three"))
    before = configured(program, root(program))
    before.sync()
    tagged = configured(program, root(program, tags=("work",)))
    assert tagged.sync()["embedded"] == 0
    assert len(tagged.search("anything", tags=["work"])) == len(tagged.search("anything"))
    moved = configured(program, root(program, tags=("work",), collection="elsewhere"))
    report = moved.sync()
    assert (report["embedded"], report["converted"]) == (0, 0)
    assert moved.read("verify")["ok"]
    assert {one["collection"]: one["points"] > 0 for one in moved.read("status")["generations"]} == {
        "documents": False,
        "elsewhere": True,
    }
    renamed = configured(program, root(program, "papers", collection="elsewhere"))
    report = renamed.sync()
    assert (report["embedded"], report["converted"], report["held"]) == (0, 0, 2)
    renamed.change("confirm", root="docs", list=False)
    assert renamed.sync()["held"] == 0
    assert {hit["root"] for hit in renamed.search("anything")} == {"papers"}
    assert renamed.read("verify")["ok"]
    assert [one["name"] for one in renamed.read("status")["roots"]] == ["papers"]


def test_a_root_around_the_state_is_refused(program: Program, write: Write) -> None:
    write("a.md", sections("one"))
    with pytest.raises(ConfigurationError, match="holds the state directory"):
        program.sync(program.state.parent)


def test_a_root_whose_path_is_not_text_goes_all_the_way(program: Program) -> None:
    folder = Path(os.fsdecode(os.fsencode(program.folder) + b" \xff\n"))
    folder.mkdir()
    (folder / "a.md").write_text(sections("one"))
    report = program.sync(folder)
    assert report["failed"] == []
    assert {hit["path"] for hit in program.search("anything")} == {"a.md"}
    assert program.read("show", path=os.fspath(folder / "a.md"))["state"] == "done"
    assert program.change("forget", paths=[os.fspath(folder / "a.md")])["forgotten"][0]["path"] == "a.md"


@pytest.mark.skipif(sys.platform != "linux", reason="folders that deep cannot be made by name elsewhere")
def test_a_file_deeper_than_one_path_may_be_long_is_served_and_taken_out(program: Program, write: Write) -> None:
    write("a.md", sections("one"))
    folder = os.open(program.folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=folder)
        folder, above = os.open("d" * 200, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder), folder
        os.close(above)
    with os.fdopen(os.open("deep.md", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "w") as deep:
        deep.write(sections("two"))
    report = program.sync(program.folder)
    assert (report["added"], report["failed"], report["deferred"]) == (2, [], [])
    assert any(hit["path"].endswith("deep.md") for hit in program.search("two"))
    assert program.read("verify")["ok"]
    os.unlink("deep.md", dir_fd=folder)
    os.close(folder)
    assert program.sync(program.folder)["removed"] == 1
    assert program.read("verify")["ok"]


def test_a_state_of_another_version_is_not_taken_for_an_empty_one(
    program: Program, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    write("a.md", sections("one"))
    program.sync()
    state = ("--state-dir", str(program.state))
    assert main((*state, "status", "--json")) == 0
    assert '"documents": 1' in capsys.readouterr().out
    with sqlite3.connect(program.state / "ledger.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for command in (("status",), ("search", "anything")):
        assert main((*state, *command)) != 0
        assert "another version of ingestd" in capsys.readouterr().err
