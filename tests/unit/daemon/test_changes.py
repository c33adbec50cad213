"""Small changes that a person asks for."""

import os

import pytest

from ingestd.daemon import changes
from ingestd.errors import ConfigurationError, CorruptFile
from ingestd.pipeline.scan import scan_roots
from ingestd.state import roots
from tests.unit.pipeline.site import Site


@pytest.fixture
def filled(site: Site) -> Site:
    for name in ("a.md", "deep/b.md", "deep/er/c.md", "deeper.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    return site


def forget(site: Site, *paths: object) -> set[str]:
    found = changes.forget(site.parts(), [str(path) for path in paths])
    return {one["path"] for one in found["forgotten"]}


def test_a_path_is_taken_absolute_or_below_its_root(filled: Site) -> None:
    assert forget(filled, filled.directory / "docs" / "a.md") == {"a.md"}
    assert forget(filled, "deeper.md") == {"deeper.md"}
    assert set(filled.texts()) == {"docs/deep/b.md", "docs/deep/er/c.md"}


def test_a_folder_stands_for_all_that_is_in_it_and_no_more(filled: Site) -> None:
    assert forget(filled, "deep/") == {"deep/b.md", "deep/er/c.md"}
    assert set(filled.texts()) == {"docs/a.md", "docs/deeper.md"}


def test_a_root_itself_stands_for_all_of_it(filled: Site) -> None:
    assert len(forget(filled, filled.directory / "docs")) == 4
    assert filled.texts() == {}


def test_a_path_that_nobody_knows_changes_nothing(filled: Site) -> None:
    assert forget(filled, "nowhere.md", "deep/er/c.md/x", filled.directory / "docs-and-more") == set()
    assert len(filled.texts()) == 4


def test_names_with_line_feeds_and_bytes_that_are_no_text_can_be_forgotten(site: Site) -> None:
    for name in (b"new\nline.md", b"odd \xff.md"):
        site.write(os.fsdecode(name), f"Text of {name!r}.\n")
    site.sync()
    found = changes.forget(site.parts(), ["new\nline.md", os.fsdecode(b"odd \xff.md")])["forgotten"]
    assert sorted(one["path"] for one in found) == ["new\nline.md", "odd \\xff.md"]
    assert [one.get("path_b64") for one in found if "odd" in one["path"]] == ["b2RkIP8ubWQ="]


def test_what_was_forgotten_stays_out_until_it_changes(filled: Site) -> None:
    forget(filled, "a.md")
    filled.sync()
    assert filled.states()["docs/a.md"] == "forgotten"
    filled.write("a.md", "Another text.\n")
    filled.sync()
    assert filled.texts()["docs/a.md"] == "Another text."


def test_retry_takes_out_of_quarantine_and_out_of_the_back_off(site: Site) -> None:
    def convert(name: str) -> None:
        raise CorruptFile("bad") if name == "bad.md" else ZeroDivisionError("bug")

    site.before_convert = convert
    site.write("bad.md", "Bad.\n")
    site.write("later.md", "Later.\n")
    site.sync()
    assert (set(site.failed()), set(site.deferred())) == ({"bad.md"}, {"later.md"})
    retried = changes.retry(site.parts(), ["later.md"], everything=False)["retried"]
    assert [(one["root"], one["path"]) for one in retried] == [("docs", "later.md")]
    assert len(changes.retry(site.parts(), [], everything=True)["retried"]) == 1
    site.before_convert = lambda _name: None
    site.sync()
    assert set(site.texts()) == {"docs/bad.md", "docs/later.md"}


def test_confirm_names_the_roots_when_it_does_not_know_one(filled: Site) -> None:
    with pytest.raises(ConfigurationError, match="no root is called 'nowhere'; known: docs"):
        changes.confirm(filled.parts(), "nowhere", only_list=False)


def test_confirm_of_one_root_leaves_the_others_held(site: Site) -> None:
    site.root("more")
    for root in ("docs", "more"):
        site.write("a.md", "Text.\n", root=root)
        site.write("b.md", f"Text of {root}.\n", root=root)
    site.sync()
    for root in ("docs", "more"):
        site.root(root, exclude=("b.md",))
    site.sync()
    assert site.held() == 2
    confirmed = changes.confirm(site.parts(), "docs", only_list=False)["confirmed"]
    assert [(one["root"], one["documents"]) for one in confirmed] == [("docs", 1)]
    site.sync()
    assert set(site.texts()) == {"docs/a.md", "more/a.md", "more/b.md"}


def test_with_nothing_held_confirm_does_nothing(filled: Site) -> None:
    assert changes.confirm(filled.parts(), None, only_list=False) == {"confirmed": [], "held": []}


@pytest.mark.parametrize("command", ["forget", "retry"])
def test_paths_that_nobody_knows_are_named_and_the_others_are_done(filled: Site, command: str) -> None:
    (filled.directory / "docs" / "link.md").symlink_to("a.md")
    paths = ["nowhere.md", "deep", os.fsdecode(b"\xff.md"), "link.md", os.fspath(filled.directory / "docs")]
    if command == "forget":
        found = changes.forget(filled.parts(), paths)
        assert len(found["forgotten"]) == 4
    else:
        found = changes.retry(filled.parts(), paths, everything=False)
        assert found["retried"] == []
    assert [one["path"] for one in found["unknown"]] == ["nowhere.md", "\\xff.md", "link.md"]
    assert "no root knows it" in found["unknown"][0]["reason"]
    assert "`follow_links` is off" in found["unknown"][2]["reason"]


def test_what_is_forgotten_already_is_known(filled: Site) -> None:
    changes.forget(filled.parts(), ["a.md"])
    assert changes.forget(filled.parts(), ["a.md"]) == {"forgotten": [], "dropped": [], "unknown": []}


def test_what_is_held_or_not_yet_due_goes_at_once_when_it_is_forgotten(site: Site) -> None:
    for name in ("held.md", "kept.md", "gone.md"):
        site.write(name, f"Text of {name}.\n")
    site.sync()
    site.root("docs", exclude=("held.md", "kept.md"))
    site.sync()
    (site.directory / "docs" / "gone.md").unlink()
    scan_roots(site.parts(), site.tally)
    assert forget(site, "held.md", "gone.md") == {"held.md", "gone.md"}
    assert set(site.texts()) == {"docs/kept.md"}
    assert site.states() == {"docs/kept.md": "held"}
    site.root("docs")
    site.sync()
    assert set(site.texts()) == {"docs/held.md", "docs/kept.md"}


def test_a_folder_that_the_command_line_made_a_root_is_given_up_as_a_whole(site: Site) -> None:
    folder = site.directory / "extra"
    folder.mkdir()
    (folder / "a.md").write_text("Text of a.\n")
    (folder / "broken.md").write_bytes(b"")
    parts = site.parts(folder)
    scan_roots(parts, site.tally)
    site.work()
    assert set(site.texts()) == {"extra/a.md"}
    document = changes.forget(site.parts(), [f"{folder}/"])
    assert (document["dropped"], document["unknown"]) == (["extra"], [])
    assert site.texts() == {}
    site.sync()
    with site.ledger.read() as transaction:
        assert [row.name for row in roots.all_roots(transaction)] == ["docs"]
    assert site.states() == {}
    assert site.payloads() == []
    scan_roots(site.parts(folder), site.tally)
    site.work()
    assert set(site.texts()) == {"extra/a.md"}


def test_a_configured_root_stays_a_root_when_all_of_it_is_forgotten(filled: Site) -> None:
    assert changes.forget(filled.parts(), [str(filled.directory / "docs")])["dropped"] == []
    filled.sync()
    assert set(filled.states().values()) == {"forgotten"}
