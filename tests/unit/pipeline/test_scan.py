"""What a scan and a changed configuration mean for the sources in the ledger."""

import os
import shutil
from pathlib import Path

from ingestd.daemon import changes
from ingestd.state import roots
from tests.unit.pipeline.site import Site


def test_a_root_under_another_name_is_new_and_embeds_nothing(site: Site) -> None:
    for name in ("a", "b"):
        site.write(f"{name}.md", f"Text of {name}.\n")
    site.sync()
    site.unroot("docs")
    site.root("papers", site.directory / "docs")
    converted: list[str] = []
    site.before_convert = converted.append
    site.sync()
    assert not site.embedder.batches
    assert site.counts["converted"] == 0
    assert set(site.texts()) == {"docs/a.md", "docs/b.md", "papers/a.md", "papers/b.md"}
    assert (site.root_state("docs"), site.held()) == ("detached", 2)
    changes.confirm(site.parts(), "docs", only_list=False)
    site.sync()
    assert set(site.texts()) == {"papers/a.md", "papers/b.md"}
    site.parts()
    with site.ledger.read() as transaction:
        assert [row.name for row in roots.all_roots(transaction)] == ["papers"]


def test_a_root_that_is_attached_again_follows_the_disk(site: Site) -> None:
    for number in range(4):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    site.sync()
    changes.forget(site.parts(), ["3.md"])
    site.unroot("docs")
    site.sync()
    assert site.held() == 3
    (site.directory / "docs" / "0.md").unlink()
    site.write("1.md", "Another text.\n")
    site.root("docs")
    site.sync()
    assert site.held() == 0
    assert site.states() == {"docs/1.md": "done", "docs/2.md": "done", "docs/3.md": "forgotten"}
    assert site.texts() == {"docs/1.md": "Another text.", "docs/2.md": "Text of number 2."}


def test_documents_follow_their_root_into_another_collection(site: Site) -> None:
    site.write("a.md", "Text of a.\n")
    site.write("b.md", "Text of b.\n")
    site.sync()
    site.root("docs", collection="elsewhere")
    site.sync()
    assert not site.embedder.batches
    assert set(site.texts("elsewhere")) == {"docs/a.md", "docs/b.md"}
    assert site.texts() == {}


def test_other_tags_are_on_every_point_after_the_next_pass(site: Site) -> None:
    site.write("a.md", "Text of a.\n")
    site.sync()
    site.root("docs", tags=("work", "draft"))
    site.sync()
    assert not site.embedder.batches
    assert site.counts["points_written"] == 0
    assert [payload["tags"] for payload in site.payloads()] == [["work", "draft"]]
    site.sync()
    assert site.counts["payloads_overwritten"] == 0


def test_a_rule_that_leaves_files_out_holds_their_removal_until_it_is_confirmed(site: Site) -> None:
    for name in ("a.md", "drafts/b.md", "drafts/c.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    site.root("docs", exclude=("drafts/",))
    site.sync()
    assert site.held() == 2
    assert len(site.texts()) == 3
    listed = changes.confirm(site.parts(), None, only_list=True)
    assert [(one["documents"], one["reason"]) for one in listed["held"]] == [(2, "excluded")]
    changes.confirm(site.parts(), None, only_list=False)
    site.sync()
    assert set(site.texts()) == {"docs/a.md"}
    assert site.states() == {"docs/a.md": "done"}


def test_a_rule_taken_back_before_it_was_confirmed_changes_nothing(site: Site) -> None:
    for name in ("a.md", "b.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    site.root("docs", exclude=("b.md",))
    site.sync()
    assert site.held() == 1
    site.root("docs")
    site.sync()
    assert site.held() == 0
    assert not site.embedder.batches
    assert set(site.texts()) == {"docs/a.md", "docs/b.md"}


def test_an_ingestignore_is_a_rule_like_any_other(site: Site) -> None:
    for name in ("a.md", "b.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    ignore = site.write(".ingestignore", "b.md\n")
    site.sync()
    assert site.states() == {"docs/a.md": "done", "docs/b.md": "held"}
    ignore.unlink()
    site.sync()
    assert site.states() == {"docs/a.md": "done", "docs/b.md": "done"}


def test_a_file_renamed_to_another_type_is_read_as_that_type(site: Site) -> None:
    path = site.write("a.md", "# Heading\n\nText.\n")
    site.write("b.md", "Text of b.\n")
    site.sync()
    path.rename(path.with_suffix(".txt"))
    site.sync()
    assert len(site.tally.touched["moved"]) == 1
    (payload,) = [one for one in site.payloads() if one["path"] == "a.txt"]
    assert payload["mime"] == "text/plain"


def test_a_root_replaced_by_another_is_accepted_by_confirm_alone(site: Site) -> None:
    for number in range(4):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    site.sync()
    docs = site.directory / "docs"
    docs.rename(site.directory / "old")
    docs.mkdir()
    site.write("0.md", "Text of number 0, changed.\n")
    site.write("new.md", "New text.\n")
    site.sync()
    assert site.root_state() == "vanished"
    assert len(site.texts()) == 4
    (held,) = changes.confirm(site.parts(), "docs", only_list=False)["confirmed"]
    assert held["documents"] == 4
    site.sync()
    assert site.root_state() == "online"
    assert site.texts() == {"docs/0.md": "Text of number 0, changed.", "docs/new.md": "New text."}


def test_a_root_restored_from_a_backup_embeds_nothing(site: Site) -> None:
    for number in range(4):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    site.sync()
    docs = site.directory / "docs"
    shutil.copytree(docs, site.directory / "copy")
    shutil.rmtree(docs)
    (site.directory / "copy").rename(docs)
    site.sync()
    assert site.root_state() == "online"
    assert not site.embedder.batches
    assert len(site.texts()) == 4


def test_a_root_whose_path_is_not_text_is_served(site: Site) -> None:
    folder = Path(os.fsdecode(os.fsencode(site.directory) + b"/odd \xff\nfolder"))
    site.root("odd", folder)
    (folder / "a.md").write_text("Text of a.\n")
    site.sync()
    assert set(site.texts()) == {"odd/a.md"}
