import io
import json

from ingestd.cli.exit_codes import ExitCode
from ingestd.cli.output import plain_lines, show
from ingestd.cli.report import Answer, Line, Table

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
    assert json.loads(text) == {"schema": 1, "path": "\x7f\x1bé\ud800"}
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
