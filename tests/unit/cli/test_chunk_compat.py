"""``ingestd chunk --profile compat``: the packages' chunks, and their own fields beside ours."""

import asyncio
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ingestd.chunk.compat import grain_growth, structure_first
from ingestd.chunk.compat.structure_first.embedders import noop
from tests.unit.chunk.build import sentences
from tests.unit.chunk.compat.grain_growth.generated import Case, case
from tests.unit.chunk.compat.grain_growth.stored import STORED, compact
from tests.unit.chunk.compat.structure_first.generated import document

from .conftest import Run

FEW = 30
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PROSE = (
    "# Pumps\n\nText.\n\n## Valves\n\n" + "A valve closes. It opens again. " * 90 + "\n\n## Seals\n\n" + "A seal. " * 9
)


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def sizes_of(one: Case) -> list[str] | None:
    """Flags for the sizes of a case; ``None`` where the command line has none for them."""
    target, most = one.sizes.get("target_chars", 1500), one.sizes.get("max_chars", 2000)
    are_sizes = isinstance(target, int) and isinstance(most, int) and target > 0 and most > 0
    if not are_sizes or one.sizes.get("lead_sentences", 2) != 2 or not one.filename:
        return None
    return ["--target-size", str(target), "--max-size", str(most)]


def whole(one: Case) -> Case:
    """Without half pairs of surrogates, which are no JSON for most readers and are written by their numbers."""
    blocks = [{**block, "text": block["text"] and block["text"].replace("\ud800", "?")} for block in one.blocks]
    return one._replace(blocks=blocks)


def as_seed(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"text": line["text"], "body": line["body"], **line["compat"]} for line in made]


def grown(run: Run, monkeypatch: pytest.MonkeyPatch, one: Case, sizes: list[str]) -> list[dict[str, Any]]:
    written = json.dumps({"filename": one.filename, "blocks": one.blocks})
    monkeypatch.setattr(sys, "stdin", io.StringIO(written))
    flags = ["--chunker", "grain-growth", "--profile", "compat", "--embedder", "noop", *sizes]
    code, out, err = run("chunk", "--blocks", "-", *flags)
    assert (code, err) == (0, "")
    return lines(out)


def test_blocks_give_what_grain_growth_gave_for_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for seed, _, expected, _ in json.loads(STORED.read_text(encoding="ascii"))["lists"]:
        one = case(seed)
        sizes = sizes_of(one)
        if compared < FEW and sizes is not None and one == whole(one):
            assert compact(as_seed(grown(run, monkeypatch, one, sizes))) == expected, seed
            compared += 1
    assert compared == FEW


def test_blocks_give_what_the_published_grain_growth_gives_for_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    package = pytest.importorskip("grain_growth")
    compared = 0
    for seed in range(5 * FEW):
        one = whole(case(seed))
        sizes = sizes_of(one)
        if sizes is None or any(block["page"] is None for block in one.blocks):
            continue
        chunks, _ = package.chunk_document(one.blocks, one.filename, int(sizes[1]), int(sizes[3]))
        assert as_seed(grown(run, monkeypatch, one, sizes)) == chunks, seed
        compared += 1
    assert compared > FEW


def test_pages_of_a_line_count_from_one_and_its_path_is_ancestors_and_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = [
        {"type": "title", "text": "T", "page": 0},
        {"type": "section", "text": "S", "page": 0},
        {"type": "paragraph", "text": "  Prose.  ", "page": 1},
        {"type": "sidebar", "text": "Unknown.", "page": 2},
    ]
    (line,) = grown(run, monkeypatch, Case(blocks, "f", {}), [])
    assert (line["page_start"], line["page_end"]) == (2, 3)
    assert (line["heading_path"], line["section"], line["title"]) == (["# T", "## S"], "S", "T")
    assert line["compat"]["metadata"]["page_start"] == 1
    assert line["body"] == "  Prose.  \n\nUnknown."


def test_a_file_of_blocks_without_a_name_is_titled_by_its_own(run: Run, home: Path) -> None:
    (home / "paper.json").write_text(json.dumps([{"type": "paragraph", "text": "Prose.", "page": 0}]))
    flags = ["--chunker", "grain-growth", "--profile", "compat", "--embedder", "noop"]
    _, out, _ = run("chunk", "--blocks", "paper.json", *flags)
    (line,) = lines(out)
    expected, _ = grain_growth.chunk_document([{"type": "paragraph", "text": "Prose.", "page": 0}], "paper")
    assert as_seed([line]) == expected


@pytest.mark.parametrize("seed", range(8))
def test_a_file_gives_what_structure_first_gives_for_its_markdown(run: Run, home: Path, seed: int) -> None:
    # The converter ends lines alike, and shows control characters as such.
    drawn = document(seed, 3000).replace("\r", "\n").encode("utf-8", "replace").decode()
    text = "# T\n\n" + _CONTROL.sub(" ", drawn) + f"\n\n{sentences(30)}\n"
    (home / "a.md").write_text(text, newline="")
    flags = ["--profile", "compat", "--embedder", "noop", "--segmenter", "punctuation", "--max-size", "400"]
    code, out, _ = run("chunk", "a.md", *flags)
    assert code == 0
    expected = asyncio.run(
        structure_first.split_chunks_structure_first(text, noop(), 400, segmenter=structure_first.punctuation_segmenter)
    )
    made = lines(out)
    assert [(line["text"], line["body"]) for line in made] == [(chunk.text, chunk.text) for chunk in expected]
    assert [line["compat"] for line in made] == [
        {"start": chunk.start, "end": chunk.end, "heading_path": list(chunk.heading_path or ())} for chunk in expected
    ]


@pytest.mark.parametrize("chunker", ["structure-first", "grain-growth"])
def test_defaults_are_the_packages_and_the_line_keeps_our_fields(run: Run, home: Path, chunker: str) -> None:
    (home / "a.md").write_text(_PROSE)
    code, out, _ = run("chunk", "a.md", "--profile", "compat", "--embedder", "noop", "--chunker", chunker)
    assert code == 0
    made = lines(out)
    assert made[-1]["heading_path"] == ["# Pumps", "## Seals"]
    limit = 2048 if chunker == "structure-first" else 2000
    assert 1000 < max(line["n_chars"] for line in made) <= limit
    assert set(made[0]) - {"compat"} == {
        *("index", "text", "body", "heading_path", "title", "section", "char_start", "char_end", "page_start"),
        *("page_end", "block_types", "n_chars", "n_tokens"),
    }


def test_sizes_configured_for_the_other_profile_say_nothing(run: Run, home: Path) -> None:
    (home / "a.md").write_text(_PROSE)
    (home / "c.toml").write_text('[chunker]\nunit = "tokens"\nmax_size = 100\ntarget_size = 90\n')
    code, out, _ = run("--config", "c.toml", "chunk", "a.md", "--profile", "compat", "--embedder", "noop")
    assert code == 0
    assert max(line["n_chars"] for line in lines(out)) > 1000


def test_a_chunk_over_the_embedders_limit_is_printed_with_a_warning(run: Run, home: Path) -> None:
    (home / "a.md").write_text("# A\n\n" + "x " * 2500)
    flags = ["--profile", "compat", "--max-size", "6000"]
    code, out, err = run("chunk", "a.md", *flags, "--embedder", "hash")
    assert (code, len(lines(out))) == (0, 1)
    assert "a daemon would refuse this file: 1 of the 1 chunks of 'A' are over the 512 tokens" in err
    _, _, quiet = run("chunk", "a.md", *flags, "--embedder", "noop")
    assert quiet == ""


def test_structure_first_asks_a_real_embedder_where_to_cut(run: Run, home: Path) -> None:
    (home / "a.md").write_text(_PROSE)
    code, out, _ = run("chunk", "a.md", "--profile", "compat", "--embedder", "hash", "--max-size", "900")
    assert code == 0
    assert "".join(line["text"] for line in lines(out)) == _PROSE


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--unit", "tokens"], 'unit must be chars in the profile "compat"'),
        (["--target-size", "90"], "target_size is unknown to structure-first"),
        (["--chunker", "grain-growth", "--min-size", "9"], "min_size is unknown to grain-growth"),
        (["--segmenter", "x"], "no segmenter is called 'x'"),
    ],
)
def test_what_the_packages_do_not_know_is_refused(run: Run, home: Path, flags: list[str], message: str) -> None:
    (home / "a.md").write_text(_PROSE)
    code, out, err = run("chunk", "a.md", "--profile", "compat", "--embedder", "noop", *flags)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"text": "a"}]', "block 0: type None is none of"),
        ('[{"type": "x", "text": "a", "page": -1}]', "page must be a whole number"),
    ],
)
def test_blocks_that_the_package_cannot_read_are_named(run: Run, home: Path, text: str, message: str) -> None:
    (home / "b.json").write_text(text)
    flags = ["--chunker", "grain-growth", "--profile", "compat", "--embedder", "noop"]
    code, out, err = run("chunk", "--blocks", "b.json", *flags)
    assert (code, out) == (2, "")
    assert message in err
