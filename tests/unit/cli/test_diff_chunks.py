"""What another version of a chunker does to one file, beside what is served of it."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from ingestd.chunk import CHUNKERS, STRUCTURE_FIRST_VERSION, Chunked, ChunkOptions, chunk, versions
from ingestd.cli.boundary_report import report
from ingestd.cli.chunk import converted, embedder_of, looked_into
from ingestd.cli.excerpt import cells, edges, fitted, fitted_end
from ingestd.cli.output import plain_lines
from ingestd.cli.report import Line
from ingestd.convert import ConversionCache
from ingestd.daemon.control import ControlServer, socket_path
from ingestd.daemon.state import Places
from ingestd.errors import ConfigurationError
from ingestd.model.document import Document
from ingestd.model.identity import Digest
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter
from ingestd.settings import EmbedderSettings, Settings

from .conftest import Run

NOW = str(STRUCTURE_FIRST_VERSION)
CONFIGURATION = """
[embedder]
name = "hash"
[chunker]
segmenter = "punctuation"
max_size = 80
[daemon]
settle_seconds = 0
[[root]]
name = "docs"
path = "docs"
"""
TEXT = "# Pumps\n\nA pump moves water. It needs oil.\n\n## Valves\n\n" + "".join(
    f"Valve {number} closes the line at place {number}. It opens again.\n\n" for number in range(30)
)
FREE = ("--embedder", "noop", "--segmenter", "punctuation")


@pytest.fixture
def file(home: Path) -> Path:
    (home / "docs").mkdir()
    (home / "ingestd.toml").write_text(CONFIGURATION)
    path = home / "docs" / "a.md"
    path.write_text(TEXT)
    return path


@pytest.fixture
def half(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that this installation also runs: chunks of at most half the size."""

    def cut(
        document: Document, options: ChunkOptions, count: TokenCounter, segmenter: Segmenter, *, max_tokens: int
    ) -> Chunked:
        return chunk(document, options, count, segmenter, max_tokens=max_tokens // 12)

    earlier = {name: MappingProxyType({0: cut}) for name in versions.EARLIER}
    monkeypatch.setattr(versions, "EARLIER", MappingProxyType(earlier))


def compared(run: Run, *arguments: str) -> dict[str, Any]:
    code, out, err = run("diff-chunks", "docs/a.md", "--json", *arguments)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    assert found["schema"] == 1
    return found


def test_a_version_beside_itself_differs_in_nothing(run: Run, file: Path, home: Path) -> None:
    found = compared(run, "--from", NOW, "--to", f"v{NOW}")
    assert (found["file"], found["same"], found["changes"]) == (os.fspath(file), True, [])
    assert found["from"] == found["to"] == {
        "version": NOW, "chunker": "structure-first", "chunker_version": int(NOW), "chunks": found["totals"]["kept"],
    }  # fmt: skip
    assert found["totals"]["texts_to_embed"] == 0
    assert not (home / ".local").exists(), "no state is needed"
    code, out, _ = run("diff-chunks", "docs/a.md", "--from", NOW)
    assert (code, out.splitlines()[-1]) == (0, "nothing to be embedded anew")


@pytest.mark.usefixtures("half")
@pytest.mark.parametrize("chunker", ["structure-first", "grain-growth"])
def test_two_versions_are_compared(run: Run, file: Path, chunker: str) -> None:
    now = CHUNKERS[chunker].version
    found = compared(run, "--from", "0", "--to", str(now), "--chunker", chunker)
    totals = found["totals"]
    assert (found["from"]["chunker_version"], found["to"]["chunker_version"]) == (0, now)
    assert found["from"]["chunks"] > found["to"]["chunks"] == totals["kept"] + totals["moved"] + totals["new"]
    assert 0 < totals["texts_to_embed"] <= totals["new"]
    for change in found["changes"]:
        for one in change["to"]:
            body = file.read_text()[one["char_start"] : one["char_end"]]
            assert one["first"].split()[0] in body
            assert one["heading_path"][0] == "# Pumps"
    code, out, _ = run("diff-chunks", "docs/a.md", "--from", "0", "--to", str(now), "--chunker", chunker)
    assert code == 0
    assert re.search(rf"docs/a.md: {chunker} 0 -> {chunker} {now}$", out, re.MULTILINE)
    assert re.search(r"^\d+ chunks -> \d+: \d+ kept, \d+ moved, \d+ new, \d+ gone$", out, re.MULTILINE)
    assert re.search(r"^\+ +\d+ +\d+-\d+  Pumps > Valves: Valve \d+ closes .* …", out, re.MULTILINE)
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("chunker", "package", "sizes"),
    [
        ("structure-first", "fancychunk 0.8.0", ("--max-size", "400")),
        ("grain-growth", "grain-growth-chunking 1.0.0", ("--max-size", "400", "--target-size", "400")),
    ],
)
def test_the_published_behaviour_is_a_version_too(
    run: Run, file: Path, chunker: str, package: str, sizes: tuple[str, ...]
) -> None:
    asked = ("--from", str(CHUNKERS[chunker].version), "--to", "compat", "--chunker", chunker, *FREE)
    found = compared(run, *asked)
    assert (found["to"]["chunker"], found["to"]["follows"]) == (f"{chunker}-compat", package)
    # The configured 80 tokens are no size of it.
    assert max(one["n_chars"] for change in found["changes"] for one in change["to"]) > 500
    smaller = compared(run, *asked, "--unit", "chars", *sizes)
    assert max(one["n_chars"] for change in smaller["changes"] for one in change["to"]) <= 400
    code, out, _ = run("diff-chunks", "docs/a.md", *asked)
    assert code == 0
    assert f"-> {chunker}-compat 1 (as {package})" in out


def test_what_is_synced_is_compared_with_what_is_to_come(run: Run, file: Path) -> None:
    assert run("sync")[0] == 0
    found = compared(run)
    assert (found["same"], found["same_markdown"], found["notes"]) == (True, True, [])
    assert (found["from"]["version"], found["from"]["doc_version"], found["to"]["version"]) == ("served", 1, NOW)


@pytest.fixture
def served(run: Run, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the owner of the state says of the file; a test may change it."""
    monkeypatch.setenv("INGESTD_STATE_DIR", str(home / "state"))
    places = Places(directory=home / "state")
    _, out, _ = run("chunk", "docs/a.md")
    settings, digest = Settings(embedder=EmbedderSettings(name="hash")), Digest("c" * 64)
    document, fingerprint = converted(file, settings.converter, None), looked_into(file)[2]
    ConversionCache(places.conversions, 2**30).put(fingerprint, digest, document)
    places.ledger.touch()
    shown: dict[str, Any] = {
        "state": "done", "title": "Pumps", "version": 4, "recipe": "r", "chunker": "structure-first", "chunker_version": int(NOW),
        "converter": document.converter, "served_fingerprint": fingerprint, "convert_digest": digest,
        "embed_digest": embedder_of(settings, settings.embedder, None).stage.digest,
        "chunks": [json.loads(line) for line in out.splitlines()],
    }  # fmt: skip

    def answer(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert (command, arguments["root"]) == ("show", None)
        if arguments["path"] != os.fspath(file):
            raise ConfigurationError(f"{arguments['path']} is no source: no root knows it")
        return shown

    with ControlServer(socket_path(places.directory), answer):
        yield shown


def test_the_owner_of_the_state_is_asked(run: Run, served: dict[str, Any]) -> None:
    found = compared(run)
    assert (found["same"], found["notes"], found["from"]["doc_version"]) == (True, [], 4)
    assert found["totals"]["texts_to_embed"] == 0


def test_a_file_that_is_not_served_is_told_with_the_reason(run: Run, home: Path, served: dict[str, Any]) -> None:
    (home / "b.md").write_text("Text.\n")
    code, _, err = run("diff-chunks", "b.md")
    assert (code, "b.md is no source: no root knows it; name a version with --from" in err) == (2, True)
    served |= {"chunks": [], "state": "quarantined", "reason": "it is empty"}
    code, _, err = run("diff-chunks", "docs/a.md")
    assert (code, "a.md is served, it is quarantined (it is empty): name a version" in err) == (2, True)


def test_other_sizes_are_told_from_another_version(run: Run, served: dict[str, Any]) -> None:
    found = compared(run, "--max-size", "40")
    assert not found["same"]
    assert "sizes, unit, segmenter or tokenizer" in found["notes"][0]
    assert 0 < found["totals"]["texts_to_embed"] < found["to"]["chunks"]


def test_another_vector_space_has_none_of_the_vectors(run: Run, served: dict[str, Any]) -> None:
    served["embed_digest"] = "e" * 64
    found = compared(run)
    assert (found["same"], found["totals"]["texts_to_embed"]) == (True, found["to"]["chunks"])


def test_a_changed_file_is_compared_on_the_text_that_is_served(run: Run, file: Path, served: dict[str, Any]) -> None:
    file.write_text("Now something else.\n\n" + TEXT)
    found = compared(run)
    assert (found["same"], found["same_markdown"]) == (True, True)
    assert "has changed since version 4, which is served: compared on the text of that version" in found["notes"][0]


def test_texts_alone_are_compared_where_the_served_text_is_not_kept(
    run: Run, file: Path, home: Path, served: dict[str, Any]
) -> None:
    file.write_text("Now something else.\n\n" + TEXT)
    for kept in (home / "state").rglob("cache/conversions/*/*"):
        kept.unlink()
    found = compared(run)
    assert (found["same"], found["same_markdown"], found["totals"]["boundaries"]["kept"]) == (False, False, None)
    assert "is not kept" in found["notes"][0]
    assert found["totals"]["texts_to_embed"] < 3, "the same text at another place costs nothing"
    code, out, _ = run("diff-chunks", "docs/a.md")
    assert (code, "boundaries:" in out) == (0, False)

    file.write_text(TEXT)
    found = compared(run)
    assert (found["same"], found["same_markdown"]) == (True, True), "converted again from the same bytes"
    served["converter"] = "markdown/0"
    found = compared(run)
    assert (found["same"], found["same_markdown"]) == (True, False)
    assert "what is served by markdown/0" in found["notes"][0]


def test_a_version_that_is_served_alone_is_answered_from_the_store(
    run: Run, served: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # An upgrade later: the served version is one that no longer runs.
    to_come = str(int(NOW) + 1)
    later = {name: MappingProxyType({int(to_come): chunk}) for name in versions.EARLIER}
    monkeypatch.setattr(versions, "runnable", later.__getitem__)
    found = compared(run, "--from", NOW, "--to", to_come)
    assert (found["from"]["version"], found["from"]["doc_version"], found["to"]["version"]) == (NOW, 4, to_come)
    assert compared(run)["to"]["version"] == to_come
    assert "doc_version" not in compared(run, "--from", to_come, "--to", "compat", *FREE)["from"]
    code, _, err = run("diff-chunks", "docs/a.md", "--from", "999")
    assert code == 2
    assert f"structure-first 999 is not in this installation, which runs {to_come} and compat" in err
    assert f"was made by structure-first {NOW}" in err
    assert "--from served" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("docs/a.md",), 2, "nothing is indexed yet in .* is not served: name a version with --from"),
        (
            ("docs/a.md", "--from", "999"),
            2,
            f"structure-first 999 is not in this installation, which runs {NOW} and compat",
        ),
        (("docs/a.md", "--from", "1.0"), 2, "'1.0' is no version: give a number, compat or served"),
        (("docs/a.md", "--from", NOW, "--max-size", "20", "--target-size", "30"), 2, "target_size"),
        (("absent.md", "--from", NOW), 2, "is not a file"),
        (("docs/empty.md", "--from", NOW), 1, "empty"),
    ],
)
def test_what_cannot_be_compared_is_said(
    run: Run, file: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    file.with_name("empty.md").touch()
    code, out, err = run("diff-chunks", *arguments)
    assert (code, out) == (status, "")
    assert re.search(message, err)


def one(state: str, index: int, first: str = "漢字 " * 10, **more: Any) -> dict[str, Any]:
    return {
        "state": state, "index": index, "char_start": index * 10, "char_end": index * 10 + 10, "page_start": None,
        "page_end": None, "heading_path": ["# A chapter of some length", "## Its own section"], "first": first,
        "last": "the last words of it", **more,
    }  # fmt: skip


def document(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[str, Any]:
    side = {"version": "1", "chunker": "c", "chunker_version": 1}
    return {
        "file": "a\x1b.md", "same": False, "from": side | {"chunks": len(before) + 5}, "same_markdown": True,
        "to": side | {"chunks": len(after) + 5, "version": "served", "doc_version": 3}, "notes": [],
        "totals": {
            "kept": 5, "moved": 0, "new": 1, "gone": 1, "texts_to_embed": 1, "tokens_to_embed": 1,
            "boundaries": {"from": 9, "to": 8, "kept": 6},
        },
        "changes": [{"kept_before": 2, "from": before, "to": after}],
    }  # fmt: skip


@pytest.mark.parametrize("columns", [60, 80, 140, 200])
def test_lines_of_chunks_fit_the_terminal(columns: int) -> None:
    changes = document([one("gone", 1, page_start=3, page_end=4)], [one("new", 1), one("moved", 2, "e\u0301" * 90)])
    lines = [part for part in report(changes, columns) if isinstance(part, Line) and part.text[0] in "-+~="]
    assert [line.text[0] for line in lines] == ["-", "=", "-", "+", "~", "="]
    assert all(cells(line.text) <= columns for line in lines[1:]), [line.text for line in lines]
    assert [line.tone for line in lines[1:]] == ["faint", "bad", "good", "plain", "faint"]


def test_a_change_of_many_chunks_is_shown_by_its_first_and_last() -> None:
    many = [one("gone", index) for index in range(100)]
    lines = list(plain_lines(report(document(many, []), None)))
    assert lines[0] == "a\\x1b.md: c 1 -> served (c 1, version 3)"
    assert "-  … 92 chunks more, all in --json" in lines
    assert [int(line.split()[1]) for line in lines if re.match(r"-\s+\d", line)] == [0, 1, 2, 3, 96, 97, 98, 99]
    assert (lines[-1], lines[5]) == ("= 3 chunks", "= 2 chunks")


def test_words_are_taken_whole_from_both_ends() -> None:
    text = "one two three four\n\n five six seven eight nine ten"
    assert edges(text, 12) == ("one two", "nine ten")
    assert edges("short\ntext", 12) == ("short text", "")
    assert edges("漢" * 40, 8) == ("漢" * 4, "漢" * 4)
    assert fitted("one two three", "eight nine", 30) == "one two three … eight nine"
    assert fitted("one two three", "eight nine", 15) == "one … nine"
    assert fitted_end("Chapter > Section", 12) == "… > Section"
