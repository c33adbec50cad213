"""A bump of the recipe redoes what it must, and says beforehand what that is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingestd.errors import ConfigurationError
from ingestd.settings import ChunkerSettings, EmbedderSettings
from tests.system.conftest import Program, sections

Write = Callable[..., Path]
_SMALLER = ChunkerSettings(max_size=60)


def _fill(write: Write) -> None:
    write("a.md", sections("one", "two", "three"))
    write("b.md", sections("four"))
    write("c.txt", "Plain text of one paragraph.\n")


def _smaller(program: Program) -> Program:
    return program.with_settings(chunker=_SMALLER)


def _costs(document: dict[str, Any]) -> dict[str, int]:
    return {
        "convert": document["converted"],
        "embed": document["embedded"],
        "write": document["points_written"],
        "delete": document["points_deleted"],
    }


def test_without_a_change_of_the_recipe_nothing_is_due(program: Program, write: Write) -> None:
    _fill(write)
    program.sync()
    assert program.reindex(dry_run=True)["documents"] == []
    assert _costs(program.reindex()) == {"convert": 0, "embed": 0, "write": 0, "delete": 0}


def test_a_new_chunker_converts_nothing_and_the_dry_run_tells_the_exact_numbers(program: Program, write: Write) -> None:
    _fill(write)
    program.sync()
    changed = _smaller(program)
    plan = changed.reindex(dry_run=True)
    assert "estimated" not in plan
    assert plan["totals"]["convert"] == 0
    assert plan["totals"]["embed"] > 0
    report = changed.reindex()
    assert report["stale"] == 0
    assert _costs(report) == {name: plan["totals"][name] for name in ("convert", "embed", "write", "delete")}
    assert report["payloads_overwritten"] == plan["totals"]["overwrite"]
    assert changed.read("verify")["ok"]
    assert changed.reindex(dry_run=True)["documents"] == []


def test_going_back_to_a_chunker_embeds_nothing(program: Program, write: Write) -> None:
    _fill(write)
    program.sync()
    _smaller(program).reindex()
    report = program.reindex()
    assert (report["converted"], report["embedded"]) == (0, 0)
    assert program.read("verify")["ok"]


def test_sync_alone_leaves_served_documents_as_they_are(program: Program, write: Write) -> None:
    _fill(write)
    program.sync()
    changed = _smaller(program)
    report = changed.sync()
    assert _costs(report) == {"convert": 0, "embed": 0, "write": 0, "delete": 0}
    assert report["stale"] == 3
    assert changed.read("status")["roots"][0]["stale"] == 3
    assert len(changed.reindex(dry_run=True)["documents"]) == 3


def test_only_the_roots_named_are_reindexed(program: Program, write: Write, tmp_path: Path) -> None:
    _fill(write)
    other = tmp_path / "other"
    other.mkdir()
    (other / "d.md").write_text(sections("five"))
    program.sync(program.folder, other)
    changed = _smaller(program)
    plan = changed.reindex(dry_run=True, root=["other"])
    assert {row["root"] for row in plan["documents"]} == {"other"}
    with pytest.raises(ConfigurationError, match="known: docs, other"):
        changed.reindex(dry_run=True, root=["nowhere"])


def test_another_embedder_pauses_the_collection_and_a_forced_reindex_rebuilds_it(
    program: Program, write: Write
) -> None:
    _fill(write)
    program.sync()
    changed = program.with_settings(embedder=EmbedderSettings(name="hash", dimension=32))
    write("new.md", sections("six"))
    report = changed.sync()
    assert report["paused"] == ["documents"]
    assert "new.md" not in program.texts()
    assert program.read("status")["generations"][0]["state"] == "needs-reindex"
    assert len(program.texts()) == 3
    with pytest.raises(ConfigurationError, match="--force"):
        changed.reindex()
    rebuilt = changed.reindex(force=True)
    assert rebuilt["generation"] == {"documents": 2}
    assert rebuilt["converted"] == 1
    assert set(changed.texts()) == {"a.md", "b.md", "c.txt", "new.md"}
    assert changed.read("verify")["ok"]
    (generation,) = changed.read("status")["generations"]
    assert (generation["generation"], generation["state"], generation["dimension"]) == (2, "live", 32)
    assert json.dumps(changed.sync()["failed"]) == "[]"
