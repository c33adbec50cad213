"""One pass: what is due is done, what still changes is waited for, and the pass ends."""

from ingestd import failpoints
from ingestd.discover.settle import Settling
from ingestd.pipeline.scan import scan_roots
from ingestd.pipeline.sync import settle_all
from tests.unit.pipeline.site import Site


def test_a_pass_makes_the_store_hold_what_the_folder_holds(site: Site) -> None:
    site.write("a.md", "# A\n\nFirst text.\n")
    site.write("deep/b.md", "Second text.\n")
    done = site.sync()
    assert (done.stopped, done.paused) == (False, frozenset())
    assert set(site.texts()) == {"docs/a.md", "docs/deep/b.md"}
    assert set(site.states().values()) == {"done"}


def test_a_pass_waits_for_a_file_that_was_just_written(site: Site) -> None:
    site.settle_seconds = 2.0
    site.write("a.md", "Text.\n")
    site.sync()
    assert site.states() == {"docs/a.md": "done"}
    assert 1 <= site.stop.waits <= 5


def test_a_file_that_has_been_still_for_long_is_not_waited_for(site: Site) -> None:
    site.settle_seconds = 2.0
    site.write("a.md", "Text.\n")
    site.time.ahead = 60.0
    site.sync()
    assert site.states() == {"docs/a.md": "done"}
    assert site.stop.waits == 0


def test_a_file_that_changes_while_it_is_waited_for_ends_with_its_newest_content(site: Site) -> None:
    site.settle_seconds = 2.0
    path = site.write("a.md", "First.\n")
    site.stop.on_wait = lambda: site.rewrite(path, "Second.\n") if site.stop.waits == 1 else None
    site.sync()
    assert site.texts() == {"docs/a.md": "Second."}


def test_a_file_that_never_holds_still_does_not_hold_the_pass_for_ever(site: Site) -> None:
    site.settle_seconds = 2.0
    path = site.write("log.md", "0\n")
    site.write("calm.md", "Calm.\n")
    site.stop.on_wait = lambda: site.rewrite(path, f"{site.stop.waits}\n")
    began = site.time.ahead
    site.sync()
    assert set(site.texts()) == {"docs/calm.md"}
    assert "still changing" in site.deferred()["log.md"]["reason"]
    assert 60 <= site.time.ahead - began < 90
    site.stop.on_wait = lambda: None
    site.time.ahead += 60
    site.sync()
    assert set(site.texts()) == {"docs/calm.md", "docs/log.md"}


def test_many_files_that_never_hold_still_keep_no_other_waiting(site: Site) -> None:
    site.settle_seconds = 2.0
    hot = [site.write(f"hot{number}.md", "0\n") for number in range(140)]
    scan_roots(site.parts(), site.tally)
    site.write("calm.md", "Calm.\n")

    def change() -> None:
        if site.states()["docs/calm.md"] == "done":
            site.stop.set()
        for path in hot:
            site.rewrite(path, f"{site.stop.waits}\n")

    site.stop.on_wait = change
    site.sync()
    assert site.states()["docs/calm.md"] == "done"
    assert site.stop.waits <= 6


def test_a_file_that_vanishes_while_it_is_waited_for_ends_the_wait(site: Site) -> None:
    site.settle_seconds = 2.0
    path = site.write("a.md", "Text.\n")
    site.write("b.md", "Text.\n")
    site.stop.on_wait = lambda: path.unlink(missing_ok=True)
    site.sync()
    assert site.states() == {"docs/b.md": "done"}


def test_a_source_that_someone_else_settled_is_waited_for_no_longer(site: Site) -> None:
    site.settle_seconds = 2.0
    path = site.write("a.md", "Text.\n")
    settling = Settling[int](2.0)
    scan_roots(site.parts(), site.tally)
    assert site.work(settling).seconds is not None
    path.unlink()
    site.write("b.md", "Text.\n")
    scan_roots(site.parts(), site.tally)
    site.time.ahead += 60
    site.work(settling)
    site.time.ahead += 60
    assert site.work(settling).seconds is None
    assert len(settling) == 0


def test_without_a_settling_time_a_file_that_changed_since_the_scan_is_taken_as_it_is(site: Site) -> None:
    path = site.write("a.md", "First.\n")
    parts = site.parts()
    scan_roots(parts, site.tally)
    path.write_text("Second.\n")
    settle_all(parts, site.tally, Settling[int](0.0))
    assert site.texts() == {"docs/a.md": "Second."}
    assert site.states() == {"docs/a.md": "done"}


def test_a_file_that_changes_while_it_is_read_is_taken_up_again_in_the_same_pass(site: Site) -> None:
    path = site.write("a.md", "First.\n")
    changed: list[str] = []

    def reached(name: str) -> None:
        if name == "ledger.claim.after" and not changed:
            changed.append(name)
            path.write_text("Second.\n")

    failpoints.arm("", reached=reached)
    try:
        site.sync()
    finally:
        failpoints.arm("")
    assert changed
    assert site.texts() == {"docs/a.md": "Second."}
    assert site.states() == {"docs/a.md": "done"}
