"""Questions that change nothing."""

import os
from typing import Any

import pytest

from ingestd.daemon import changes
from ingestd.daemon.reading import empty_status, search_document, status_document
from ingestd.errors import ConfigurationError, CorruptFile
from tests.unit.pipeline.site import Site


@pytest.fixture
def filled(site: Site) -> Site:
    site.root("more", tags=("work",))
    for name in ("a.md", "deep/b.md"):
        site.write(name, f"Text of {name}.\n")
    site.write("a.md", "Text of more.\n", root="more")
    site.sync()
    return site


def status(site: Site) -> dict[str, Any]:
    return status_document(site.ledger, site.time.wall_ns(), {"running": False})


def search(site: Site, query: str = "anything", **narrowed: Any) -> set[str]:
    parts = site.parts()
    embedding = next(iter(parts.roots.values())).embedding
    arguments = {"query": query, "limit": 10, **narrowed}
    found = search_document(site.ledger, site.collections.store, lambda _made, text: embedding.query(text), arguments)
    assert found["query"] == query
    return {f"{hit['root']}/{hit['path']}" for hit in found["hits"]}


def test_the_status_of_nothing_has_the_fields_of_any_other(site: Site) -> None:
    assert empty_status().keys() == status(site).keys()
    assert status(site)["roots"] == []


def test_status_tells_of_each_state_that_a_source_can_be_in(site: Site) -> None:
    def convert(name: str) -> None:
        if name == "bad.md":
            raise CorruptFile("it is bad")
        if name == "later.md":
            raise ZeroDivisionError("a bug")

    site.before_convert = convert
    for name in ("done", "bad", "later", "forgotten", "held"):
        site.write(f"{name}.md", f"Text of {name}.\n")
    site.sync()
    changes.forget(site.parts(), ["forgotten.md"])
    site.root("docs", exclude=("held.md",))
    site.sync()
    document = status(site)
    (root,) = document["roots"]
    counts = ("documents", "chunks", "pending", "quarantined", "held", "forgotten")
    assert [root[name] for name in counts] == [2, 2, 1, 1, 1, 1]
    assert (root["name"], root["collection"], root["state"], root["reason"]) == ("docs", "documents", "online", None)
    assert root["last_scan"] is not None
    assert document["queues"] == {"due": 0, "deferred": 1, "removals": 0, "held": 1, "outbox": 0}
    assert [(one["path"], one["error"], one["attempts"]) for one in document["quarantine"]] == [
        ("bad.md", "CorruptFile", 1)
    ]
    assert [one["path"] for one in document["deferred"]] == ["later.md"]
    assert document["held"] == 1
    (generation,) = document["generations"]
    assert (generation["generation"], generation["state"], generation["points"]) == (1, "live", 2)
    assert document["recipe"]["documents"]["embed"] == generation["recipe"]


def test_status_tells_of_each_state_that_a_root_can_be_in(filled: Site) -> None:
    (filled.directory / "more").rename(filled.directory / "unmounted")
    filled.sync()
    filled.unroot("docs")
    filled.sync()
    filled.root("fresh")
    filled.parts()
    found = {root["name"]: (root["state"], bool(root["reason"]), root["documents"]) for root in status(filled)["roots"]}
    assert found == {"docs": ("detached", True, 2), "more": ("vanished", True, 1), "fresh": ("new", False, 0)}
    assert status(filled)["held"] == 3


def test_all_of_a_root_that_vanished_is_held(filled: Site) -> None:
    (filled.directory / "more").rename(filled.directory / "unmounted")
    filled.sync()
    document = status(filled)
    assert {root["name"]: root["held"] for root in document["roots"]} == {"docs": 0, "more": 1}
    assert document["queues"]["held"] == document["held"] == 1


def test_a_search_is_narrowed_to_a_path_that_is_no_text(filled: Site) -> None:
    path = os.fsdecode(b"odd\xff")
    filled.write(f"{path}/a.md", "Odd text.\n")
    filled.sync()
    assert search(filled, path=path) == search(filled, path=str(filled.directory / "docs" / path))
    assert len(search(filled, path=path)) == 1


def test_a_search_is_narrowed_by_root_path_and_tag(filled: Site) -> None:
    assert search(filled) == {"docs/a.md", "docs/deep/b.md", "more/a.md"}
    assert search(filled, root="more") == {"more/a.md"}
    assert search(filled, path="deep") == {"docs/deep/b.md"}
    assert search(filled, tags=("work",)) == {"more/a.md"}
    assert search(filled, path=str(filled.directory / "docs")) == {"docs/a.md", "docs/deep/b.md"}
    assert search(filled, path=str(filled.directory / "docs" / "deep")) == {"docs/deep/b.md"}


@pytest.mark.parametrize(
    ("narrowed", "message"),
    [
        ({"query": " "}, "the query is blank"),
        ({"root": "nowhere"}, "no root is called 'nowhere'; known: docs, more"),
        ({"path": "/nowhere/at/all"}, "lies below no root"),
    ],
)
def test_a_question_without_meaning_is_refused(filled: Site, narrowed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        search(filled, **narrowed)


def test_a_path_of_another_root_than_the_one_named_is_refused(filled: Site) -> None:
    with pytest.raises(ConfigurationError, match="lies below the root 'docs', not below 'more'"):
        search(filled, root="more", path=str(filled.directory / "docs" / "a.md"))


def test_before_anything_was_indexed_a_search_finds_nothing(site: Site) -> None:
    assert search(site) == set()


def test_the_status_counts_what_the_last_whole_scan_left_out(site: Site) -> None:
    for name in ("a.md", ".hidden", "deep/.hidden", "b.tmp"):
        site.write(name, "Text.\n")
    site.sync()
    assert status(site)["roots"][0]["ignored"] == {"hidden name": 2, "temporary name": 1}
    (site.directory / "docs" / "b.tmp").unlink()
    site.sync()
    assert status(site)["roots"][0]["ignored"] == {"hidden name": 2}
