"""A ledger that is lost is made anew from the store, also where no file asks for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestd.daemon import changes
from ingestd.state.engine import Ledger
from tests.unit.pipeline.site import Site


@pytest.fixture
def after(site: Site, tmp_path: Path, empty_ledger: bytes) -> Iterator[Site]:
    """The same folder and the same store, with a ledger that knows nothing; ``site`` is the one before."""
    for number in range(3):
        site.write(f"{number}.md", f"Text of number {number}.\n")
    site.sync()
    directory = tmp_path / "after"
    directory.mkdir()
    file = directory / "ledger.sqlite"
    file.write_bytes(empty_ledger)
    ledger = Ledger(file)
    made = Site(directory, ledger, shelf=site.shelf)
    made.root("docs", site.directory / "docs")
    yield made
    made.close()
    ledger.close()


def remove_all(site: Site) -> None:
    for path in (site.directory / "docs").iterdir():
        path.unlink()


def test_a_folder_that_was_emptied_meanwhile_is_held_until_someone_confirms(site: Site, after: Site) -> None:
    remove_all(site)
    after.sync()
    assert after.root_state() == "vanished"
    assert len(after.texts()) == 3
    changes.confirm(after.parts(), None, only_list=False)
    after.sync()
    assert after.texts() == {}
    assert after.counts["points_deleted"] == 3


def test_files_that_went_meanwhile_are_taken_out_where_nothing_else_is_to_be_read(site: Site, after: Site) -> None:
    remove_all(site)
    site.write(".hidden.md", "left out by its name")
    after.sync()
    assert after.held() == 3  # all of them, as an emptied root
    changes.confirm(after.parts(), None, only_list=False)
    after.sync()
    assert after.texts() == {}


def test_what_is_still_there_is_served_again_and_not_embedded(site: Site, after: Site) -> None:
    (site.directory / "docs" / "0.md").unlink()
    after.sync()
    assert after.states() == {"docs/1.md": "done", "docs/2.md": "done"}
    assert set(after.texts()) == {"docs/1.md", "docs/2.md"}
    assert after.counts["points_written"] == 0


def test_a_store_that_holds_nothing_is_left_alone_by_a_first_scan(site: Site) -> None:
    site.sync()
    assert site.shelf.collections == {}
