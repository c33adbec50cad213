"""Boundaries stay where they are until a chunker's version is raised."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.chunk import CHUNKERS, Chunked, ChunkOptions, chunk
from ingestd.chunk.versions import runnable
from ingestd.model.document import Document, document_as_json
from ingestd.ports.embedder import TokenCounter
from ingestd.ports.segmenter import Segmenter
from tests.unit.chunk import golden

DOCUMENTS = golden.documents()


VERSIONS = [(chunker, version) for chunker in sorted(CHUNKERS) for version in runnable(chunker)]


@pytest.mark.parametrize(("chunker", "version"), VERSIONS)
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_no_boundary_moves_without_another_version(name: str, chunker: str, version: int) -> None:
    complaint = golden.complaint(name, DOCUMENTS[name], chunker, version, runnable(chunker)[version])
    assert not complaint, complaint


def test_a_boundary_that_moved_asks_for_another_version() -> None:
    def other(
        document: Document, options: ChunkOptions, count: TokenCounter, segmenter: Segmenter, *, max_tokens: int
    ) -> Chunked:
        return chunk(document, replace(options, max_size=300, unit="chars"), count, segmenter, max_tokens=max_tokens)

    complaint = golden.complaint("tables", DOCUMENTS["tables"], "grain-growth", 1, other)
    assert re.match(
        r"grain-growth 1 chunks tables otherwise than it did \(.* became .*\): raise its VERSION", complaint
    )


def test_another_version_asks_for_its_boundaries() -> None:
    later = CHUNKERS["structure-first"].version + 1
    complaint = golden.complaint("tables", DOCUMENTS["tables"], "structure-first", later, chunk)
    assert complaint == f"no boundaries of structure-first {later} are stored for tables: run `{golden.REGENERATE}`"


@pytest.mark.parametrize("chunker", sorted(CHUNKERS))
def test_the_boundaries_of_every_version_are_kept(chunker: str) -> None:
    kept = {path.name for path in (golden.FOLDER / chunker).iterdir()}
    assert kept == {str(version) for version in range(1, CHUNKERS[chunker].version + 1)}


def test_the_markdown_converter_gives_the_same_documents_until_its_version_is_raised() -> None:
    path = golden.converter_fixture()
    assert path.exists(), f"no digests of {path.stem} are stored: run `{golden.REGENERATE}`"
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert golden.digests() == stored, f"the converter reads Markdown otherwise than it did: {golden.MOVED}"


def test_every_source_has_its_document() -> None:
    assert {source.stem for source in golden.SOURCES} <= set(DOCUMENTS)


def test_the_documents_are_read_back_as_they_were_written() -> None:
    for name, document in DOCUMENTS.items():
        path = golden.FOLDER / "documents" / f"{name}.json"
        assert document_as_json(document) == json.loads(path.read_text(encoding="utf-8"))


def test_a_moved_boundary_is_named() -> None:
    stored = {"tokens": [[0, 0, 9, [], "a"], [1, 9, 20, [], "b"]]}
    moved = {"tokens": [[0, 0, 9, [], "a"], [1, 9, 18, [], "c"], [2, 18, 20, [], "d"]]}
    assert golden.difference(stored, stored) == ""
    assert golden.difference(stored, moved) == "tokens: [1, 9, 20, [], 'b'] became [1, 9, 18, [], 'c']"
    assert golden.difference(stored, {"tokens": stored["tokens"][:1]}) == "tokens: 2 chunks became 1"


def test_what_is_stored_is_changed_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "1" / "a.json"
    assert golden.write(path, "{}", rewrite=False) is None
    assert golden.write(path, "[]", rewrite=False) == path
    assert path.read_text() == "{}\n"
    assert golden.write(path, "[]", rewrite=True) is None
    assert path.read_text() == "[]\n"
