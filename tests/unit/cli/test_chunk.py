import io
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ingestd.chunk import ChunkOptions, chunk
from ingestd.cli.blocks import document_from_blocks
from ingestd.errors import ConfigurationError
from ingestd_adapters.punctuation_segmenter import punctuation

from .conftest import Run

BLOCKS = [
    {"type": "title", "text": "Pumps", "page": 0},
    {"type": "section", "text": "Valves", "page": 0},
    {"type": "paragraph", "text": "A valve closes. It opens again.", "page": 1},
    {"type": "formula", "text": "p = F / A", "page": 1},
    {"type": "code", "text": "close()", "page": 2},
    {"type": "paragraph", "text": None},
]


def chunks(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def word_counts(texts: Sequence[str]) -> list[int]:
    return [2 + len(text.split()) for text in texts]


def test_a_file_is_chunked_without_a_state(run: Run, home: Path) -> None:
    (home / "a.md").write_text("# Pumps\n\nText.\n\n## Valves\n\n" + "A valve closes. " * 200)
    code, out, _ = run("chunk", "a.md", "--embedder", "noop", "--segmenter", "punctuation", "--max-size", "100")
    assert code == 0
    made = chunks(out)
    assert len(made) > 5
    assert [chunk["index"] for chunk in made] == list(range(len(made)))
    assert made[-1]["heading_path"] == ["# Pumps", "## Valves"]
    assert max(chunk["n_tokens"] for chunk in made) <= 100
    assert not (home / ".local").exists()


@pytest.mark.parametrize("chunker", ["structure-first", "grain-growth"])
def test_blocks_come_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch, chunker: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"filename": "x", "blocks": BLOCKS})))
    code, out, _ = run("chunk", "--blocks", "-", "--embedder", "noop", "--chunker", chunker, "--unit", "chars")
    assert code == 0
    made = chunks(out)
    assert made[0]["title"] == "Pumps"
    assert (made[0]["page_start"], made[-1]["page_end"]) in {(1, 3), (2, 3)}


def test_blocks_come_from_a_file(run: Run, home: Path) -> None:
    (home / "b.json").write_text(json.dumps(BLOCKS))
    code, out, _ = run("chunk", "--blocks", "b.json", "--embedder", "noop")
    assert (code, chunks(out)[0]["title"]) == (0, "Pumps")


def test_blocks_stand_where_they_say_in_the_markdown() -> None:
    document = document_from_blocks(json.dumps(BLOCKS), "b.json")
    assert len(document.blocks) == len(BLOCKS)
    for block in document.blocks:
        assert block.text in document.markdown[block.start : block.end]
    assert document.markdown.startswith("# Pumps\n\n## Valves\n\n")
    assert [block.page for block in document.blocks] == [1, 1, 2, 2, 3, 1]


@pytest.mark.parametrize("chunker", ["structure-first", "grain-growth"])
def test_blocks_without_text_are_skipped_by_the_number_they_were_given_with(chunker: str) -> None:
    blocks = [{"type": "title", "text": " "}, *BLOCKS, {"type": "code", "text": ""}, {"type": "list", "text": "- a"}]
    document = document_from_blocks(json.dumps(blocks), "b.json")
    made = chunk(document, ChunkOptions(name=chunker), word_counts, punctuation(), max_tokens=512)
    assert [(one.block, one.type, one.reason) for one in made.skipped] == [
        (0, "title", "no text"),
        (6, "paragraph", "no text"),
        (7, "code", "no text"),
    ]
    assert document.title == "Pumps"
    assert not document.markdown.startswith("\n")


@pytest.mark.parametrize("chunker", ["structure-first", "grain-growth"])
def test_every_part_of_a_table_among_blocks_has_its_header_rows(chunker: str) -> None:
    rows = "".join(f"| row {number} | of a long table |\n" for number in range(60))
    blocks = [{"type": "table", "text": f"| name | value |\n|:---|---:|\n{rows}"}]
    document = document_from_blocks(json.dumps(blocks), "b.json")
    made = chunk(document, ChunkOptions(name=chunker, max_size=120), word_counts, punctuation(), max_tokens=512)
    assert len(made.chunks) > 3
    assert all(one.body.startswith("| name | value |\n|:---|---:|\n| row") for one in made.chunks)


@pytest.mark.parametrize("text", ["a\tb\n1\t2", "a | b", "| a |\n| b |", "---", "a\n---"])
def test_a_table_of_another_form_names_no_header_rows(text: str) -> None:
    assert document_from_blocks(json.dumps([{"type": "table", "text": text}]), "b.json").blocks[0].header_rows == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("{}", "holds no blocks"),
        ("[1]", "block 0: must be an object, got int"),
        ('[{"type": "x", "text": "a"}]', "block 0: type 'x' is none of"),
        ('[{"type": ["x"]}]', "block 0: type"),
        ('[{"type": "list", "text": 1, "page": -1}]', "text must be a string.*page must be a whole number"),
        ('[{"type": "list", "page": true}]', "page must be"),
    ],
)
def test_blocks_that_are_wrong_are_named(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        document_from_blocks(text, "b.json")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("absent.md",), 2, "is not a file"),
        (("a.bin",), 1, "binary"),
        (("a.md", "--segmenter", "x"), 2, "no segmenter is called 'x'"),
        (("a.md", "--max-size", "20", "--target-size", "30"), 2, "target_size"),
        (("--blocks", "absent.json"), 2, "cannot be read"),
        (("empty.md",), 1, "empty|no text"),
    ],
)
def test_what_cannot_be_chunked_is_said(
    run: Run, home: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    (home / "a.md").write_text("# A\n\ntext\n")
    (home / "a.bin").write_bytes(bytes(range(256)) * 20)
    (home / "empty.md").touch()
    code, out, err = run("chunk", *arguments, "--embedder", "noop")
    assert (code, out) == (status, "")
    assert re.search(message, err)
