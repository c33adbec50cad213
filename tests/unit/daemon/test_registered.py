"""Which folders are roots, and which are refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.daemon import changes
from ingestd.daemon.registered import Registered, register
from ingestd.errors import ConfigurationError
from ingestd.model.source import Signature
from ingestd.settings import RootSettings, Settings
from ingestd.state import roots, sightings
from ingestd.state.engine import Ledger
from tests.unit.pipeline.site import Site


def named(site: Site, *folders: Path) -> Registered:
    return register(site.ledger, site.settings, folders)


def names(found: Registered) -> set[str]:
    return {row.name for row, _ in found.roots.values()}


def scope(found: Registered) -> dict[str, frozenset[bytes]]:
    return {found.roots[id_][0].name: directories for id_, directories in found.scope.items()}


def known(site: Site) -> Sequence[roots.RootRow]:
    with site.ledger.read() as transaction:
        return roots.all_roots(transaction)


def below(site: Site, *parts: str) -> Path:
    folder = site.directory.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_folder_of_the_command_line_is_a_root_from_then_on(site: Site) -> None:
    papers = below(site, "papers")
    assert names(named(site, papers)) == {"docs", "papers"}
    assert names(named(site)) == {"docs", "papers"}
    assert scope(named(site, papers)) == {"papers": frozenset()}


def test_two_folders_of_the_same_name_are_two_roots(site: Site) -> None:
    found = named(site, below(site, "one", "papers"), below(site, "other", "papers"))
    assert names(found) == {"docs", "papers", "papers-2"}


def test_folders_within_a_root_narrow_the_scan_to_all_of_them(site: Site) -> None:
    found = named(site, below(site, "docs", "a"), below(site, "docs", "b", "c"))
    assert names(found) == {"docs"}
    assert scope(found) == {"docs": frozenset({b"a", b"b/c"})}


def test_a_root_named_beside_a_folder_within_it_is_scanned_whole(site: Site) -> None:
    found = named(site, below(site, "docs", "a"), site.directory / "docs")
    assert scope(found) == {"docs": frozenset()}


def test_a_folder_around_a_root_is_refused_and_nothing_is_recorded(site: Site) -> None:
    new = below(site, "new")
    with pytest.raises(ConfigurationError, match="contains the root 'docs'"):
        named(site, new, site.directory)
    assert known(site) == ()


def test_a_link_to_a_root_is_that_root(site: Site) -> None:
    link = site.directory / "link"
    link.symlink_to("docs")
    below(site, "docs", "a")
    assert scope(named(site, link)) == {"docs": frozenset()}
    assert scope(named(site, link / "a")) == {"docs": frozenset({b"a"})}


@pytest.mark.parametrize("make", ["nothing", "file"])
def test_what_is_no_folder_is_refused(site: Site, make: str) -> None:
    path = site.directory / "absent"
    if make == "file":
        path.write_text("a file")
    with pytest.raises(ConfigurationError, match="is no folder"):
        named(site, path)


def test_a_root_that_holds_the_state_is_refused(site: Site) -> None:
    site.unroot("docs")
    with pytest.raises(ConfigurationError, match=r"holds the state directory .*--state-dir"):
        named(site, site.directory)
    site.root("all", site.directory)
    with pytest.raises(ConfigurationError, match="holds the state directory"):
        named(site)


def test_a_state_below_a_hidden_folder_of_a_root_is_left_out_anyway(tmp_path: Path, empty_ledger: bytes) -> None:
    state = tmp_path / ".local" / "state"
    state.mkdir(parents=True)
    (state / "ledger.sqlite").write_bytes(empty_ledger)
    ledger = Ledger(state / "ledger.sqlite")
    home = Settings(roots=(RootSettings(name="home", path=tmp_path),))
    assert names(register(ledger, home, ())) == {"home"}
    ledger.close()


def test_a_folder_that_the_configuration_takes_over_under_another_name_is_held(site: Site) -> None:
    papers = below(site, "papers")
    named(site, papers)
    site.root("library", papers)
    assert names(named(site)) == {"docs", "library"}


def test_a_folder_that_is_no_more_is_forgotten_once_nothing_of_it_is_left(site: Site) -> None:
    papers = below(site, "papers")
    site.parts(papers)
    site.write("a.md", "Text.\n", root="papers")
    site.sync()
    (papers / "a.md").unlink()
    papers.rmdir()
    site.sync()
    assert names(named(site)) == {"docs", "papers"}
    assert site.held() == 1
    changes.confirm(site.parts(), "papers", only_list=False)
    site.sync()
    assert names(named(site)) == {"docs"}
    assert [row.name for row in known(site)] == ["docs"]


def test_a_root_that_left_the_configuration_is_detached_and_comes_back_as_it_was(site: Site) -> None:
    (row,) = (row for row, _ in named(site).roots.values())
    with site.ledger.write("scanned") as transaction:
        sightings.seen(transaction, row.id, b"", {b"a.md": Signature(size=1, mtime_ns=1, ctime_ns=1, inode=1)}, 1)
    before = site.settings
    site.settings = replace(before, roots=())
    assert named(site).roots == {}
    assert [(row.state, row.reason) for row in known(site)] == [("detached", "not in the configuration any more")]
    site.settings = before
    assert names(named(site)) == {"docs"}
    assert [(row.id, row.state) for row in known(site)] == [(row.id, "new")]
