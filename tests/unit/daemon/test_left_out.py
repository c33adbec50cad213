"""Why a path is no source."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.daemon.inspect import show_document
from ingestd.daemon.left_out import why_left_out
from ingestd.discover.rules import Rules
from ingestd.errors import ConfigurationError
from tests.unit.pipeline.site import Site

RULES = Rules(exclude=("drafts/", "*.log.md", "!keep.log.md"), wanted_suffixes=frozenset({".md"}))


def why(site: Site, path: str | bytes, *, rules: Rules = RULES, follow_links: bool = False) -> str:
    (plan,) = site.parts().roots.values()
    return why_left_out(replace(plan, rules=rules, follow_links=follow_links), os.fsencode(path))


def docs(site: Site) -> Path:
    return site.directory / "docs"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("drafts/deep/a.md", "the folder drafts: in `exclude`: `drafts/`"),
        ("sub/a.log.md", "in `exclude`: `*.log.md`"),
        ("sub/secret.md", "in sub/.ingestignore: `secret*`"),
        ("sub/deep/secret.md", "in sub/.ingestignore: `secret*`"),
        ("picture.xyz", "nothing that is installed reads files of type .xyz"),
        ("README", "nothing that is installed reads files without a suffix"),
        (".hidden.md", "its name is hidden"),
        ("a.md~", "its name is that of a temporary file"),
        ("sub/.ingestignore", "rules of ingestd itself"),
        ("keep.log.md", "no scan has seen it yet"),
    ],
)
def test_the_rule_with_its_file_is_named(site: Site, path: str, reason: str) -> None:
    site.write(path, "Text.\n")
    site.write("sub/.ingestignore", "# private\nother.md\nsecret*\n!secret.txt\n")
    assert reason in why(site, path)


def test_a_file_that_include_does_not_match_is_named_so(site: Site) -> None:
    site.write("a.md", "Text.\n")
    assert "no pattern of `include`" in why(site, "a.md", rules=Rules(include=("*.txt",)))


def test_a_folder_below_one_that_is_not_searched_is_named_so(site: Site) -> None:
    site.write("deep/a.md", "Text.\n")
    assert "`recursive` is off" in why(site, "deep/a.md", rules=Rules(recursive=False))
    assert why(site, "deep") == "it is a folder"


def test_what_is_no_regular_file_is_named(site: Site) -> None:
    site.write("a.md", "Text.\n")
    site.write("deep/b.md", "Text.\n")
    os.mkfifo(docs(site) / "pipe.md")
    (docs(site) / "link.md").symlink_to("a.md")
    (docs(site) / "away.md").symlink_to("/etc/hostname")
    (docs(site) / "tree").symlink_to("deep")
    assert why(site, "pipe.md") == "it is a FIFO"
    assert why(site, "link.md") == "it is a link; `follow_links` is off"
    assert why(site, "away.md", follow_links=True) == "it is a link that leaves the root or leads nowhere"
    assert "a link that is not followed" in why(site, "tree/b.md")


def test_a_name_that_is_not_utf_8_is_looked_up_too(site: Site) -> None:
    site.write(os.fsdecode(b"\xff.log.md"), "Text.\n")
    assert why(site, b"\xff.log.md") == "in `exclude`: `*.log.md`"


def test_a_root_that_is_not_there_is_named_so(site: Site) -> None:
    (plan,) = site.parts().roots.values()
    docs(site).rename(site.directory / "aside")
    assert "cannot be opened" in why_left_out(plan, b"a.md")


def test_show_says_why_a_path_is_no_source(site: Site) -> None:
    site.write("a.md", "Text.\n")
    site.sync()
    (docs(site) / "link.md").symlink_to("a.md")
    for path in ("link.md", str(docs(site) / "link.md")):
        with pytest.raises(ConfigurationError, match=r"the root 'docs' does not take it: it is a link"):
            show_document(site.parts(), {"path": path})
    with pytest.raises(ConfigurationError, match="no root knows it"):
        show_document(site.parts(), {"path": "../docs/a.md"})
