"""Boundaries stay where they are until a chunker's version is raised."""

import json
from pathlib import Path

import pytest

from ingestd.chunk import CHUNKERS
from ingestd.model.document import document_as_json
from tests.unit.chunk import golden

DOCUMENTS = golden.documents()


@pytest.mark.parametrize("chunker", sorted(CHUNKERS))
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_no_boundary_moves_without_another_version(name: str, chunker: str) -> None:
    path = golden.fixture(chunker, name)
    version = CHUNKERS[chunker].version
    assert path.exists(), f"no boundaries of {chunker} {version} are stored for {name}: run `{golden.REGENERATE}`"
    moved = golden.difference(json.loads(path.read_text(encoding="utf-8")), golden.boundaries(DOCUMENTS[name], chunker))
    assert not moved, f"{chunker} {version} chunks {name} otherwise than it did ({moved}): {golden.MOVED}"


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
