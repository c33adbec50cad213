"""One document, as it is served."""

import os
from typing import Any

import pytest

from ingestd.daemon.inspect import show_document
from ingestd.errors import ConfigurationError, UnsupportedType
from tests.unit.pipeline.site import Site


def show(site: Site, path: object, **more: Any) -> dict[str, Any]:
    return show_document(site.parts(), {"path": str(path), **more})


def test_a_document_is_shown_with_its_blocks_and_chunks(site: Site) -> None:
    path = site.write("a.md", "# Title\n\n" + "Some text. " * 80 + "\n\n## Part\n\nMore text.\n")
    site.sync()
    shown = show(site, path)
    assert (shown["root"], shown["path"], shown["state"], shown["version"]) == ("docs", "a.md", "done", 1)
    assert [block["type"] for block in shown["blocks"]] == ["title", "paragraph", "section", "paragraph"]
    assert [chunk["index"] for chunk in shown["chunks"]] == list(range(len(shown["chunks"])))
    assert all(chunk["char_start"] < chunk["char_end"] for chunk in shown["chunks"])
    assert shown["converter"].startswith("markdown/")
    assert show(site, "a.md") == shown


def test_the_bytes_and_the_digests_of_the_served_version_are_shown(site: Site) -> None:
    path = site.write("a.md", "# Title\n\nText.\n")
    site.sync()
    shown = show(site, path)
    plan = next(iter(site.parts().roots.values()))
    assert shown["served_fingerprint"] == shown["fingerprint"]
    assert shown["convert_digest"] == plan.conversions.stage_for(shown["mime"]).digest
    assert shown["embed_digest"] == plan.embedding.stage.digest
    # A text with a NUL is taken for binary: it fails, and the version before stays.
    site.write("a.md", "\0" * 20)
    site.sync()
    later = show(site, path)
    assert (later["state"], later["served_fingerprint"]) == ("quarantined", shown["served_fingerprint"])
    assert later["fingerprint"] != shown["fingerprint"]


def test_a_quarantined_source_is_shown_with_its_state_and_the_reason(site: Site) -> None:
    site.write("a.md", "")
    site.sync()
    shown = show(site, "a.md")
    assert (shown["state"], shown["chunks"], shown["blocks"]) == ("quarantined", [], [])
    assert (shown["stage"], shown["error"]) == ("stage", "FileEmpty")
    assert "is empty" in shown["reason"]


def test_a_source_of_a_type_that_nothing_reads_is_shown(site: Site) -> None:
    site.write("a.md", "Text.\n")
    site.sync()
    with site.ledger.write("mime") as transaction:
        transaction.exec_driver_sql("UPDATE source SET mime = 'image/png'")
    with pytest.raises(UnsupportedType):
        next(iter(site.parts().roots.values())).conversions.stage_for("image/png")
    assert show(site, "a.md")["blocks"] == []


@pytest.mark.parametrize("name", [b"new\nline.md", b"odd \xff.md"])
def test_any_name_can_be_shown(site: Site, name: bytes) -> None:
    path = site.write(os.fsdecode(name), "Text.\n")
    site.sync()
    assert show(site, path)["chunks"][0]["body"] == "Text."
    assert show(site, os.fsdecode(name))["state"] == "done"


def test_a_path_of_two_roots_asks_for_the_root(site: Site) -> None:
    site.root("more")
    for root in ("docs", "more"):
        site.write("a.md", f"Text of {root}.\n", root=root)
    site.sync()
    with pytest.raises(ConfigurationError, match="docs, more"):
        show(site, "a.md")
    assert show(site, "a.md", root="more")["chunks"][0]["body"] == "Text of more."
    assert show(site, site.directory / "docs" / "a.md")["root"] == "docs"


def test_a_path_that_nobody_knows_is_an_error_with_the_way_out(site: Site) -> None:
    with pytest.raises(ConfigurationError, match="ingestd status"):
        show(site, "nowhere.md")
