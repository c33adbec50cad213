import io
import json
import re

import pytest

from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.output import plain_lines, show, write_json_line
from ingestd.cli.report import Answer, Line, Table, counted

TABLE = Table(
    title="sources", columns=("path", "chunks"), rows=(("a\x1b[31m\n.md", 12), ("b\u202e.md", 3), ("c", None))
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def answer(*parts: Line | Table, **document: object) -> Answer:
    return Answer(document=document, report=lambda _: parts, code=ExitCode.DONE)


def shown(stream: io.StringIO, what: Answer, *, as_json: bool = False) -> str:
    show(what, as_json=as_json, stream=stream)
    return stream.getvalue()


def test_json_is_one_document_with_its_schema() -> None:
    text = shown(io.StringIO(), answer(path="\x7f\x1bé\ud800"), as_json=True)
    assert json.loads(text) == {"schema": 1, "path": "\x7f\x1bé\\ud800"}
    assert text.endswith("\n")
    assert text.isascii()
    assert text[:-1].isprintable()


def test_piped_tables_are_aligned_lines_without_control_characters() -> None:
    assert list(plain_lines([TABLE, Line("a\tb")])) == [
        "sources",
        "path            chunks",
        "a\\x1b[31m\\n.md      12",
        "b\\u202e.md           3",
        "c                    -",
        "a\\tb",
    ]


def test_a_terminal_gets_a_table_without_what_the_names_hold() -> None:
    text = shown(Terminal(), answer(TABLE, Line("[bold]x[/bold] \x1b[2J", "bad")))
    assert "[2J" in text
    assert "\x1b[2J" not in text
    assert "\x1b[31m\n" not in text
    assert "[bold]x[/bold]" in text
    assert "\u202e" not in text


def test_an_empty_table_still_has_its_headings() -> None:
    assert list(plain_lines([Table(columns=("a", "b"), rows=())])) == ["a  b"]


ROOTS = Table(
    columns=("name", "state", "documents", "last scan", "collection", "path"),
    rows=(("docs", "vanished", 12345, "2026-01-01T00:00:00Z", "documents", "/srv/" + "folder/" * 8),),
    spare=("last scan", "collection"),
)


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (200, ["name", "state", "documents", "last", "scan", "collection", "path"]),
        (110, ["name", "state", "documents", "collection", "path"]),
        (60, ["name", "state", "documents", "path"]),
    ],
)
def test_a_narrow_terminal_goes_without_the_spare_columns(
    monkeypatch: pytest.MonkeyPatch, columns: int, headings: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(Terminal(), answer(ROOTS)))
    first = next(line for line in text.splitlines() if line.strip())
    assert first.split() == headings
    assert "12345" in text
    assert "vanished" in text


def test_what_is_drawn_again_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "10")
    stream = Terminal()
    what = answer(*(Line(f"line {number} " + "x" * 20) for number in range(30)))
    show(what, as_json=False, stream=stream, fitted=True)
    text = stream.getvalue().removeprefix("\x1b[2J\x1b[H").splitlines()
    assert text[0].startswith("line 0")
    assert text[-1] == "… 22 more lines: `ingestd status` shows all"
    assert len(text) < 10


def test_a_count_of_one_has_its_noun_in_the_singular() -> None:
    assert [counted(number, "file") for number in range(3)] == ["0 files", "1 file", "2 files"]


def test_json_is_such_as_every_reader_takes() -> None:
    document = {"query": "\udcff", "hits": [{"\ud800": ("a\udfff", 1, None, "\\ud800", "\U0001f600")}]}
    # As the path of a document is written: the byte that was given, where there was one.
    stream = io.StringIO()
    write_json_line(stream, document)
    for text in (shown(io.StringIO(), answer(**document), as_json=True), stream.getvalue()):
        read = json.loads(text)
        json.dumps(read, ensure_ascii=False).encode("utf-8", "strict")
        assert read["query"] == "\\xff"
        assert read["hits"] == [{"\\ud800": ["a\\udfff", 1, None, "\\ud800", "\U0001f600"]}]
