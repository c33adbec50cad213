"""A root that is cut as the published packages cut."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingestd.settings import ChunkerSettings, RootEmbedderSettings, RootSettings
from tests.system.conftest import Program, sections

Write = Callable[..., Path]


def _with(program: Program, chunker: ChunkerSettings) -> Program:
    root = RootSettings(name="docs", path=program.folder, chunker=chunker, embedder=RootEmbedderSettings(name="hash"))
    return program.with_settings(roots=(root,), chunker=chunker)


def _seed(name: str = "structure-first", **sizes: Any) -> ChunkerSettings:
    return ChunkerSettings(name=name, profile="compat", segmenter="punctuation", **sizes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["structure-first", "grain-growth"])
def test_a_compat_root_is_served_and_found_and_rechunked_without_a_conversion(
    program: Program, write: Write, name: str
) -> None:
    write("a.md", sections("one", "two", "three"))
    write("b.md", "# Short\n\nA short text.\n")
    native, compat = _with(program, ChunkerSettings()), _with(program, _seed(name, max_size=900))
    compat.sync()
    hits = compat.search("anything", limit=100)
    assert {hit["path"] for hit in hits} == {"a.md", "b.md"}
    assert {hit["heading_path"][-1] for hit in hits} == {"# one", "# two", "# three", "# Short"}
    assert max(len(hit["body"]) for hit in hits) > 500
    as_seed = _bodies(hits)
    report = native.reindex()
    assert (report["converted"], report["failed"]) == (0, [])
    assert _bodies(native.search("anything", limit=100)) != as_seed
    report = compat.reindex()
    assert (report["converted"], report["embedded"], report["failed"]) == (0, 0, [])
    assert _bodies(compat.search("anything", limit=100)) == as_seed


def _bodies(hits: list[dict[str, Any]]) -> list[str]:
    return sorted(hit["body"] for hit in hits)


def test_a_file_with_a_chunk_too_large_for_the_embedder_waits_until_the_sizes_fit(
    program: Program, write: Write
) -> None:
    # No sentence ends, so the package cuts at its 2,048 characters: 514 tokens of the 512 that this embedder takes.
    write("a.md", "# A\n\n" + "word " * 1000 + "\n")
    compat = _with(program, _seed(max_size=2048))
    (failed,) = compat.sync()["failed"]
    assert failed["error"] == "NotChunkable"
    assert "over the 512 tokens that the embedder takes" in failed["reason"]
    assert "set chunker.max_size to about" in failed["reason"]
    smaller = _with(program, _seed(max_size=1000))
    assert smaller.reindex()["failed"] == []
    assert len(smaller.texts()["a.md"]) > 4
