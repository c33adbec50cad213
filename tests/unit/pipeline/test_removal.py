"""Removals: what is gone goes, unless so much is gone at once that a person must say so."""

from pathlib import Path

import pytest

from ingestd import failpoints
from ingestd.daemon import changes
from ingestd.discover import guard
from ingestd.discover.settle import Settling
from ingestd.errors import CorruptFile
from ingestd.pipeline.scan import scan_roots
from ingestd.state import sightings
from tests.unit.pipeline.site import Site


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Most removals at once without a question, fewer than the program's own so that the test is quick."""
    monkeypatch.setattr(guard, "MOST_AT_ONCE", 5)
    return 5


def fill(site: Site, count: int) -> list[Path]:
    return [site.write(f"{number}.md", f"Text of number {number}.\n") for number in range(count)]


def scan(site: Site) -> None:
    scan_roots(site.parts(), site.tally)


def test_a_file_that_is_gone_is_retired_and_counted(site: Site) -> None:
    first, *_ = fill(site, 3)
    site.sync()
    first.unlink()
    site.sync()
    assert set(site.texts()) == {"docs/1.md", "docs/2.md"}
    assert len(site.tally.touched["removed"]) == 1
    assert site.states() == {"docs/1.md": "done", "docs/2.md": "done"}


def test_a_removal_waits_for_the_settling_time(site: Site) -> None:
    first, *_ = fill(site, 3)
    site.sync()
    site.settle_seconds = 2.0
    first.unlink()
    scan(site)
    wait = site.work()
    assert wait.seconds is not None
    assert 0 < wait.seconds <= 2
    assert len(site.texts()) == 3
    site.time.ahead += 2
    assert site.work().seconds is None
    assert len(site.texts()) == 2


def test_a_file_that_is_back_before_its_removal_was_done_is_not_removed(site: Site) -> None:
    first, *_ = fill(site, 3)
    site.sync()
    aside = first.rename(first.with_name(".0.md"))
    scan(site)
    aside.rename(first)
    site.work()
    assert len(site.texts()) == 3
    site.sync()
    assert set(site.states().values()) == {"done"}
    assert len(site.texts()) == 3
    assert not site.embedder.batches


def test_a_root_that_goes_away_after_the_scan_loses_nothing(site: Site) -> None:
    first, *_ = fill(site, 3)
    site.sync()
    first.unlink()
    scan(site)
    docs = site.directory / "docs"
    docs.rename(site.directory / "unmounted")
    assert site.work().seconds is None
    assert len(site.texts()) == 3
    docs.mkdir()
    site.work()
    assert len(site.texts()) == 3
    docs.rmdir()
    (site.directory / "unmounted").rename(docs)
    site.sync()
    assert set(site.texts()) == {"docs/1.md", "docs/2.md"}


def test_a_pending_file_of_a_root_that_went_away_is_not_lost(site: Site) -> None:
    fill(site, 2)
    scan(site)
    docs = site.directory / "docs"
    docs.rename(site.directory / "unmounted")
    site.work()
    assert set(site.states().values()) == {"pending"}
    (site.directory / "unmounted").rename(docs)
    site.time.ahead += 60
    site.sync()
    assert len(site.texts()) == 2


def test_a_mass_removal_is_held_and_not_counted_as_removed(site: Site, few: int) -> None:
    paths = fill(site, few + 4)
    site.sync()
    for path in paths[: few + 1]:
        path.unlink()
    site.sync()
    assert site.held() == few + 1
    assert len(site.texts()) == few + 4
    assert not site.tally.touched["removed"]
    with site.ledger.write("confirm") as transaction:
        sightings.confirm(transaction, site.source("0.md").root_id)
    site.sync()
    assert len(site.texts()) == 3


def test_a_held_file_that_is_back_is_served_as_before(site: Site, few: int) -> None:
    paths = fill(site, few + 4)
    site.sync()
    hidden = {path: path.rename(path.with_name(f".{path.name}")) for path in paths[: few + 1]}
    site.sync()
    assert site.held() == few + 1
    for path, aside in hidden.items():
        aside.rename(path)
    site.sync()
    assert site.held() == 0
    assert not site.embedder.batches
    assert set(site.states().values()) == {"done"}


def test_moves_are_no_loss_however_many_they_are(site: Site, few: int) -> None:
    fill(site, few + 4)
    site.sync()
    docs = site.directory / "docs"
    (docs / "keep").mkdir()
    for path in sorted(docs.glob("*.md")):
        path.rename(docs / "keep" / path.name)
    site.sync()
    assert site.held() == 0
    assert len(site.tally.touched["moved"]) == few + 4
    assert all(path.startswith("docs/keep/") for path in site.texts())
    assert not site.embedder.batches


def test_a_move_whose_new_path_fails_is_a_loss_like_any_other(site: Site, few: int) -> None:
    paths = fill(site, few + 4)
    site.sync()
    for path in paths:
        path.rename(path.with_suffix(".txt"))

    def fail(_name: str) -> None:
        raise CorruptFile("the engine cannot read it")

    site.before_convert = fail
    site.sync()
    assert len(site.failed()) == few + 4
    assert site.states()["docs/0.md"] == "held"
    assert len(site.texts()) == few + 4


def test_an_old_path_is_served_until_the_file_is_served_under_its_last_one(site: Site) -> None:
    first, *_ = fill(site, 2)
    site.sync()
    second = first.rename(first.with_name("second.md"))
    scan(site)
    second.rename(first.with_name("third.md"))
    scan(site)
    seen: list[set[str]] = []
    failpoints.arm("", reached=lambda _name: seen.append(site.served()))
    try:
        site.work(Settling[int](0.0))
    finally:
        failpoints.arm("")
    assert all(moment & {"0.md", "third.md"} for moment in seen)
    assert site.served() == {"third.md", "1.md"}
    assert len(site.embedder.embedded) == 2


def test_files_that_were_never_served_go_without_a_question(site: Site, few: int) -> None:
    site.write("kept.md", "Kept text.\n")
    site.sync()
    new = [site.write(f"{number}.txt", f"Text of number {number}.\n") for number in range(few * 4)]
    scan(site)
    for path in new:
        path.unlink()
    site.sync()
    assert site.held() == 0
    assert site.states() == {"docs/kept.md": "done"}


def test_what_was_gone_before_its_root_was_emptied_goes_with_the_rest_when_confirmed(site: Site) -> None:
    first, *others = fill(site, 3)
    site.sync()
    site.settle_seconds = 2.0
    first.unlink()
    scan(site)
    for path in others:
        path.unlink()
    site.sync()
    assert site.root_state() == "vanished"
    (found,) = changes.confirm(site.parts(), "docs", only_list=False)["confirmed"]
    assert found["documents"] == 3
    site.sync()
    assert site.texts() == {}
    assert site.states() == {}


def test_a_file_that_was_due_when_its_root_vanished_waits_for_the_root(site: Site) -> None:
    first, *_ = fill(site, 3)
    site.sync()
    site.rewrite(first, "Another text.\n")
    scan(site)
    aside = site.directory / "aside"
    (site.directory / "docs").rename(aside)
    (site.directory / "docs").mkdir()
    site.sync()
    assert site.states()["docs/0.md"] == "pending"
    assert len(site.texts()) == 3
    (site.directory / "docs").rmdir()
    aside.rename(site.directory / "docs")
    site.sync()
    assert site.texts()["docs/0.md"] == "Another text."


def test_a_new_file_in_an_emptied_root_does_not_let_its_removals_happen(site: Site) -> None:
    paths = fill(site, 3)
    site.sync()
    for path in paths:
        path.unlink()
    site.sync()
    site.write("stray.md", "A stray text.\n")
    site.sync()
    assert site.held() == 3
    assert len(site.texts()) == 4
    site.sync()
    assert site.held() == 3
    site.write("0.md", "Text of number 0.\n")
    site.sync()
    assert site.states()["docs/0.md"] == "done"
    assert site.held() == 2
    changes.confirm(site.parts(), None, only_list=False)
    site.sync()
    assert set(site.texts()) == {"docs/stray.md", "docs/0.md"}


def test_a_confirmed_emptied_root_takes_new_files_and_holds_nothing(site: Site) -> None:
    paths = fill(site, 3)
    site.sync()
    for path in paths:
        path.unlink()
    site.sync()
    changes.confirm(site.parts(), None, only_list=False)
    site.write("new.md", "A new text.\n")
    site.sync()
    assert set(site.texts()) == {"docs/new.md"}
    assert site.held() == 0


def test_a_root_that_came_back_with_less_retires_what_it_lacks(site: Site) -> None:
    fill(site, 3)
    site.sync()
    aside = (site.directory / "docs").rename(site.directory / "aside")
    (site.directory / "docs").mkdir()
    site.sync()
    (aside / "0.md").unlink()
    (site.directory / "docs").rmdir()
    aside.rename(site.directory / "docs")
    site.sync()
    assert set(site.texts()) == {"docs/1.md", "docs/2.md"}
