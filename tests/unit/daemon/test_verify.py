"""Each kind of difference between disk, ledger and store is found."""

import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from ingestd.daemon import changes
from ingestd.daemon.verify import verify_document
from ingestd.model.identity import DocumentId, PointId
from ingestd.pipeline.scan import scan_roots
from tests.unit.pipeline.site import Site

KINDS = ("missing_points", "orphan_points", "stale_points", "unserved_sources", "ghost_documents", "unread")


@pytest.fixture
def filled(site: Site) -> Site:
    for name in ("a.md", "b.md", "c.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    return site


def found(site: Site) -> dict[str, list[dict[str, Any]]]:
    document = verify_document(site.parts())
    assert document["ok"] == (not any(document[kind] for kind in KINDS))
    return {kind: document[kind] for kind in KINDS if document[kind]}


def stored(site: Site) -> dict[PointId, Any]:
    return site.shelf.collections[site.live().generation.name].points


def change(site: Site, **fields: Any) -> PointId:
    """Change the payload of one point behind everyone's back."""
    points = stored(site)
    id_ = min(points)
    payload = {**json.loads(points[id_].payload), **fields}
    points[id_] = replace(points[id_], payload=json.dumps(payload).encode(), doc_version=payload["doc_version"])
    return id_


def test_a_store_that_is_as_it_should_be_is_in_order(filled: Site) -> None:
    document = verify_document(filled.parts())
    assert (document["ok"], document["documents"], document["points"], document["repaired"]) == (True, 3, 3, 0)


def test_an_empty_state_is_in_order(site: Site) -> None:
    assert verify_document(site.parts())["ok"]


def test_a_point_that_the_store_lost_is_missing(filled: Site) -> None:
    points = stored(filled)
    lost = min(points)
    del points[lost]
    (missing,) = found(filled)["missing_points"]
    assert (missing["id"], missing["root"]) == (lost, "docs")


def test_a_point_of_ours_that_no_document_has_is_an_orphan(filled: Site) -> None:
    points = stored(filled)
    stranger = PointId("00000000-0000-5000-8000-000000000000")
    points[stranger] = points[min(points)]
    assert [one["id"] for one in found(filled)["orphan_points"]] == [stranger]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("doc_version", 7),
        ("fingerprint", "0" * 64),
        ("recipe", "0" * 64),
        ("path", "elsewhere.md"),
        ("root", "elsewhere"),
        ("chunk_count", 9),
        ("text_sha256", "0" * 64),
    ],
)
def test_a_payload_that_says_something_else_is_stale(filled: Site, field: str, value: object) -> None:
    id_ = change(filled, **{field: value})
    ((kind, (stale,)),) = found(filled).items()
    assert (kind, stale["id"]) == ("stale_points", id_)
    assert {"doc_version": "version"}.get(field, field) in stale["why"]


def test_a_text_that_is_another_than_the_id_was_made_of_is_stale(filled: Site) -> None:
    change(filled, text="Another text.")
    (stale,) = found(filled)["stale_points"]
    assert "id" in stale["why"]


@pytest.mark.parametrize("vector", [(float("nan"),) * 8, (2.0,) + (0.0,) * 7])
def test_a_vector_without_a_length_of_one_is_stale(filled: Site, vector: tuple[float, ...]) -> None:
    points = stored(filled)
    points[min(points)] = replace(points[min(points)], vector=vector)
    (stale,) = found(filled)["stale_points"]
    assert stale["why"] == "vector"


def test_a_point_that_belongs_to_another_document_is_an_orphan(filled: Site) -> None:
    id_ = change(filled, doc_id=DocumentId("00000000-0000-5000-8000-000000000001"))
    differences = found(filled)
    assert [one["id"] for one in differences["orphan_points"]] == [id_]
    assert [one["id"] for one in differences["missing_points"]] == [id_]


def test_a_file_that_no_scan_has_seen_is_unserved(filled: Site) -> None:
    filled.write("new.md", "New.\n")
    filled.write("a.md", "Changed.\n")
    assert {one["path"] for one in found(filled)["unserved_sources"]} == {"new.md", "a.md"}


def test_a_file_that_waits_is_unserved(filled: Site) -> None:
    filled.write("new.md", "New.\n")
    scan_roots(filled.parts(), filled.tally)
    (unserved,) = found(filled)["unserved_sources"]
    assert (unserved["path"], unserved["why"]) == ("new.md", "pending")


def test_a_source_said_to_be_done_without_a_document_is_unserved(filled: Site) -> None:
    with filled.ledger.write("plant") as transaction:
        transaction.exec_driver_sql("UPDATE document SET version = 0 WHERE source_id = 1")
    assert [one["why"] for one in found(filled)["unserved_sources"]] == ["no document"]


def test_a_document_of_other_content_than_its_source_is_unserved(filled: Site) -> None:
    with filled.ledger.write("plant") as transaction:
        transaction.exec_driver_sql("UPDATE source SET fingerprint = zeroblob(32) WHERE id = 1")
    assert [one["why"] for one in found(filled)["unserved_sources"]] == ["other content is served"]


def test_a_document_whose_file_is_gone_is_a_ghost(filled: Site) -> None:
    (filled.directory / "docs" / "a.md").unlink()
    assert [one["path"] for one in found(filled)["ghost_documents"]] == ["a.md"]
    scan_roots(filled.parts(), filled.tally)
    assert [one["why"] for one in found(filled)["ghost_documents"]] == ["its removal is due"]
    filled.sync()
    assert found(filled) == {}


def test_a_document_that_the_rules_leave_out_is_a_ghost_until_its_removal_is_held(filled: Site) -> None:
    filled.root("docs", exclude=("a.md",))
    assert [one["why"] for one in found(filled)["ghost_documents"]] == ["the rules leave it out"]
    filled.sync()
    assert found(filled) == {}


def test_what_is_held_in_quarantine_or_forgotten_is_in_order(filled: Site) -> None:
    changes.forget(filled.parts(), ["a.md"])
    filled.write("b.md", "")
    filled.sync()
    assert found(filled) == {}
    (filled.directory / "docs").rename(filled.directory / "unmounted")
    filled.sync()
    assert found(filled).keys() == {"unread"}


def test_a_document_that_changes_while_it_is_compared_is_no_difference(filled: Site) -> None:
    parts = filled.parts()
    changed: list[str] = []
    scroll = parts.collections.store.scroll

    def changing(*arguments: Any, **more: Any) -> Any:
        if not changed:
            changed.append("a.md")
            filled.write("a.md", "Changed meanwhile.\n")
            filled.sync()
        return scroll(*arguments, **more)

    parts.collections.store.scroll = changing  # type: ignore[method-assign]  # a race, made to happen
    assert verify_document(parts)["ok"]


def test_another_directory_in_the_place_of_a_root_is_not_compared_and_said_so(filled: Site) -> None:
    folder = filled.directory / "docs"
    folder.rename(filled.directory / "aside")
    folder.mkdir()
    for name in ("a.md", "b.md"):
        filled.write(name, "Another text.\n")
    assert found(filled).keys() == {"unread"}
    filled.sync()
    assert filled.root_state() == "vanished"
    (unread,) = found(filled)["unread"]
    assert "another directory" in unread["reason"]


def test_a_folder_that_cannot_be_listed_is_not_taken_for_equal(filled: Site) -> None:
    filled.write("sub/d.md", "Text of d.\n")
    filled.sync()
    (filled.directory / "docs" / "sub" / ".ingestignore").mkdir()
    (unread,) = found(filled)["unread"]
    assert (unread["root"], unread["path"]) == ("docs", "sub")


def test_the_same_tree_copied_to_the_place_of_a_root_is_compared(filled: Site) -> None:
    folder = filled.directory / "docs"
    aside = folder.rename(filled.directory / "aside")
    shutil.copytree(aside, folder)
    filled.write("d.md", "Text of d.md.\n")
    (new, *_) = [one for one in found(filled)["unserved_sources"] if one["path"] == "d.md"]
    assert new["root"] == "docs"
