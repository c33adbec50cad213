import os
import shutil
import socket
from pathlib import Path

import pytest

from ingestd.discover.listing import DirectoryScan
from ingestd.discover.root import RootIdentity
from ingestd.discover.rules import Rules
from ingestd.discover.scan import ScanRoot, scan
from ingestd.errors import ConfigurationError


def removed(found: dict[bytes, DirectoryScan]) -> set[bytes]:
    return {
        directory + b"/" + name if directory else name
        for directory, value in found.items()
        for name in value.difference.removed
    }


def added(found: dict[bytes, DirectoryScan]) -> set[bytes]:
    return {
        directory + b"/" + name if directory else name
        for directory, value in found.items()
        for name in value.difference.added
    }


def excluded(found: dict[bytes, DirectoryScan]) -> set[bytes]:
    return {
        directory + b"/" + name if directory else name for directory, value in found.items() for name in value.excluded
    }


def test_a_first_scan_finds_every_file(site):
    for path in ("a.md", "b/c.md", "b/d/e.md"):
        site.write(path)
    assert added(site.look()) == {b"a.md", b"b/c.md", b"b/d/e.md"}


def test_a_second_scan_finds_nothing_new(site):
    site.write("a.md")
    site.write("b/c.md")
    site.learn()
    found = site.look()
    assert added(found) == removed(found) == set()
    assert sum(value.difference.unchanged for value in found.values()) == 2


def test_new_content_of_the_same_size_and_time_is_seen_by_its_change_time(site):
    path = site.write("a.md", b"one")
    before = path.stat()
    site.learn()
    while True:  # the change time has the resolution of the kernel's tick
        path.write_bytes(b"two")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if path.stat().st_ctime_ns != before.st_ctime_ns:
            break
    assert set(site.look()[b""].difference.changed) == {b"a.md"}


def test_a_file_that_was_never_settled_counts_as_changed(site):
    site.write("a.md")
    site.learn()
    site.ledger.files[b""][b"a.md"] = None
    assert set(site.look()[b""].difference.changed) == {b"a.md"}


def test_unstable_inodes_are_ignored_when_told_so(site):
    site.write("a.md")
    site.learn()
    known = site.ledger.files[b""][b"a.md"]
    site.ledger.files[b""][b"a.md"] = type(known)(
        size=known.size, mtime_ns=known.mtime_ns, ctime_ns=known.ctime_ns, inode=known.inode + 1
    )
    assert site.look()[b""].difference.unchanged == 0
    assert site.look(ignore_inode=True)[b""].difference.unchanged == 1


def test_a_directory_that_is_gone_takes_its_whole_tree_along(site):
    for path in ("keep.md", "gone/a.md", "gone/deep/er/b.md", "gone-not/c.md"):
        site.write(path)
    site.learn()
    shutil.rmtree(site.folder / "gone")
    assert removed(site.look()) == {b"gone/a.md", b"gone/deep/er/b.md"}


def test_a_hint_at_a_directory_that_is_gone_takes_its_whole_tree_along(site):
    for path in ("keep.md", "gone/a.md", "gone/deep/er/b.md"):
        site.write(path)
    site.learn()
    shutil.rmtree(site.folder / "gone")
    assert removed(site.look(b"gone", deep=True)) == {b"gone/a.md", b"gone/deep/er/b.md"}
    assert removed(site.look(b"gone", deep=False)) == {b"gone/a.md", b"gone/deep/er/b.md"}
    assert removed(site.look(b"gone/deep", deep=False)) == {b"gone/deep/er/b.md"}


def test_a_shallow_hint_looks_at_one_directory(site):
    site.write("a/b.md")
    site.write("a/c/d.md")
    site.write("e.md")
    assert added(site.look(b"a", deep=False)) == {b"a/b.md"}


def test_a_deep_hint_looks_below_and_nowhere_else(site):
    site.write("a/b.md")
    site.write("a/c/d.md")
    site.write("e.md")
    assert added(site.look(b"a", b"a/c", deep=True)) == {b"a/b.md", b"a/c/d.md"}


def test_a_file_that_became_a_directory_is_removed(site):
    site.write("a.md")
    site.write("b.md")
    site.learn()
    (site.folder / "a.md").unlink()
    site.write("a.md/inner.md")
    found = site.look()
    assert removed(found) == {b"a.md"}
    assert added(found) == {b"a.md/inner.md"}


def test_a_directory_that_became_a_file_is_removed(site):
    site.write("a/inner.md")
    site.write("b.md")
    site.learn()
    shutil.rmtree(site.folder / "a")
    site.write("a")
    assert removed(site.look()) == {b"a/inner.md"}


def test_an_emptied_root_retires_nothing(site):
    site.write("a.md")
    site.write("b/c.md")
    site.learn()
    shutil.rmtree(site.folder)
    site.folder.mkdir()
    found = site.look()
    assert removed(found) == set()
    assert "is empty" in found[b""].unknown


def test_a_missing_root_retires_nothing(site):
    site.write("a.md")
    site.learn()
    shutil.rmtree(site.folder)
    found = site.look()
    assert removed(found) == set()
    assert found[b""].unknown is not None


def test_a_replaced_root_retires_nothing(site):
    site.write("a.md")
    site.learn()
    identity = RootIdentity.of(site.folder.stat())
    site.folder.rename(site.folder.with_name("elsewhere"))
    site.folder.mkdir()
    site.write("other.md")
    found = site.look(identity=identity)
    assert removed(found) == added(found) == set()
    assert "another directory" in found[b""].unknown


def test_a_root_that_goes_away_under_the_scan_retires_nothing(site):
    for number in range(5):
        site.write(f"{number}/a.md")
    site.learn()
    results = scan(ScanRoot(path=site.root), site.ledger)
    assert next(results).directory == b""
    shutil.rmtree(site.folder)
    rest = list(results)
    assert not any(value.difference.removed for value in rest)
    assert all(value.unknown for value in rest)


def test_a_directory_without_permission_is_unknown_and_nothing_below_is_removed(open_site, unprivileged):
    site = open_site
    site.write("shut/a.md")
    site.write("shut/in/b.md")
    site.write("c.md")
    site.learn()
    (site.folder / "shut").chmod(0)
    (site.folder / "c.md").unlink()
    site.write("d.md")
    with unprivileged():
        found = site.look()
        hinted = site.look(b"shut/in")
    (site.folder / "shut").chmod(0o755)
    assert removed(found) == {b"c.md"}
    assert removed(hinted) == set()
    assert found[b"shut"].unknown == "Permission denied"
    assert {directory for directory, value in hinted.items() if value.unknown} == {b"shut"}


def test_a_directory_whose_rules_cannot_be_read_is_unknown_and_nothing_below_is_removed(site):
    site.write("a/b.md")
    site.write("a/in/c.md")
    site.learn()
    site.write("a/.ingestignore", b"#" * ((1 << 20) + 1))
    shutil.rmtree(site.folder / "a" / "in")
    for found in (site.look(), site.look(b"a/in")):
        assert removed(found) == excluded(found) == set()
        assert ".ingestignore" in found[b"a"].unknown


def test_a_mount_that_is_gone_leaves_its_sources_unknown(site):
    site.write("disk/a.md")
    site.write("disk/in/b.md")
    site.write("c.md")
    site.learn()
    shutil.rmtree(site.folder / "disk")
    (site.folder / "disk").mkdir()
    found = site.look(submounts=frozenset((b"disk",)))
    assert removed(found) == set()
    assert found[b"disk"].unknown == "nothing is mounted there now"
    assert removed(site.look()) == {b"disk/a.md", b"disk/in/b.md"}


def test_unusual_entries_are_named_with_what_they_are(site, tmp_path):
    os.mkfifo(site.folder / "pipe.md")
    (tmp_path / "outside.md").write_bytes(b"secret")
    (site.folder / "link.md").symlink_to(tmp_path / "outside.md")
    (site.folder / "way").symlink_to(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(site.folder, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/sock.md")
        finally:
            os.close(here)
        found = site.look()
    assert [name for name, _ in found[b""].unusual] == [b"link.md", b"pipe.md", b"sock.md", b"way"]
    assert dict(found[b""].unusual)[b"pipe.md"] == "a FIFO"
    assert set(found) == {b""}


def test_a_source_that_became_a_fifo_is_removed(site):
    site.write("a.md")
    site.write("b.md")
    site.learn()
    (site.folder / "a.md").unlink()
    os.mkfifo(site.folder / "a.md")
    found = site.look()
    assert removed(found) == {b"a.md"}
    assert found[b""].unusual == ((b"a.md", "a FIFO"),)


def test_links_are_followed_within_the_root_when_told_so(site, tmp_path):
    site.write("real/a.md")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_bytes(b"x")
    (site.folder / "alias.md").symlink_to("real/a.md")
    (site.folder / "dir").symlink_to("real")
    (site.folder / "out").symlink_to(tmp_path / "outside")
    (site.folder / "absolute.md").symlink_to(site.folder / "real" / "a.md")
    found = site.look(follow_links=True)
    assert added(found) == {b"real/a.md", b"alias.md", b"dir/a.md", b"absolute.md"}
    assert [name for name, _ in found[b""].unusual] == [b"out"]
    assert added(site.look(b"dir", follow_links=True)) == {b"dir/a.md"}


def test_loops_of_links_end(site):
    site.write("a/x.md")
    site.write("b/y.md")
    (site.folder / "a" / "up").symlink_to("..")
    (site.folder / "a" / "other").symlink_to("../b")
    (site.folder / "b" / "other").symlink_to("../a")
    found = site.look(follow_links=True)
    assert added(found) == {b"a/x.md", b"b/y.md", b"a/other/y.md", b"b/other/x.md"}


@pytest.mark.parametrize(
    "name", [b"new\nline.md", b"\x1b[31m.md", b"-rf.md", b"\xff\xfe.md", "nfd-e\u0301.md".encode(), b"n" * 252 + b".md"]
)
def test_any_name_is_found_as_the_file_system_gives_it(site, name):
    site.write(name)
    assert added(site.learn()) == {name}
    assert site.look()[b""].difference.unchanged == 1


def test_both_forms_of_a_letter_are_two_files(site):
    names = {"caf\u00e9.md".encode(), "cafe\u0301.md".encode()}
    for name in names:
        site.write(name)
    assert added(site.look()) == names


def test_a_narrowed_rule_excludes_and_does_not_remove(site):
    for path in ("a.md", "b.txt", "drafts/c.md", "drafts/in/d.md"):
        site.write(path)
    site.learn()
    found = site.look(rules=Rules(exclude=("drafts/",), include=("*.md",)))
    assert removed(found) == set()
    assert excluded(found) == {b"b.txt", b"drafts/c.md", b"drafts/in/d.md"}


def test_a_root_that_is_no_longer_recursive_excludes_what_lies_below(site):
    site.write("a.md")
    site.write("b/c.md")
    site.learn()
    assert excluded(site.look(rules=Rules(recursive=False))) == {b"b/c.md"}


def test_a_hint_inside_an_excluded_directory_finds_nothing(site):
    site.write(".git/objects/a.md")
    assert site.look(b".git/objects") == {}


def test_rules_in_folders_hold_below_them_and_nested_ones_win(site):
    site.write(".ingestignore", b"*.log\nbuild/\n")
    site.write("a.log")
    site.write("a.md")
    site.write("build/b.md")
    site.write("keep/.ingestignore", b"!*.log\n/local.md\n")
    site.write("keep/c.log")
    site.write("keep/local.md")
    site.write("keep/in/local.md")
    everything = {b"a.md", b"keep/c.log", b"keep/in/local.md"}
    assert added(site.look()) == everything
    assert added(site.look(b"keep")) == {b"keep/c.log", b"keep/in/local.md"}
    assert added(site.look(b"keep/in", deep=False)) == {b"keep/in/local.md"}


def test_a_rules_line_that_means_nothing_is_reported_and_the_others_hold(site):
    site.write(".ingestignore", b"!\n*.log\n")
    site.write("a.log")
    found = site.look()
    assert added(found) == set()
    assert found[b""].unusual[0][0] == b".ingestignore"
    assert "line 1" in found[b""].unusual[0][1]


def test_ignored_entries_are_counted_by_reason(site):
    for name in ("a.md", "b.xyz", "c.part", ".hidden", "~$d.docx"):
        site.write(name)
    found = site.look(rules=Rules(wanted_suffixes=frozenset((".md",))))[b""]
    assert found.ignored == 4
    assert dict(found.ignored_reasons) == {"hidden name": 1, "temporary name": 2, "unsupported type": 1}


def test_a_glob_without_meaning_is_a_configuration_error(site):
    with pytest.raises(ConfigurationError, match=r"`exclude`.*line 1"):
        site.look(rules=Rules(exclude=("!",)))


def test_a_stopped_scan_reports_nothing_that_it_has_not_seen(site):
    for number in range(6):
        site.write(f"{number}/a.md")
    site.learn()
    shutil.rmtree(site.folder / "5")
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 3

    found = list(scan(ScanRoot(path=site.root), site.ledger, stop=stop))
    assert 0 < len(found) < 7
    assert not any(value.difference.removed for value in found)


def test_the_ledger_may_change_between_two_directories(site):
    for number in range(4):
        site.write(f"{number}/a.md")
    values = []
    for value in scan(ScanRoot(path=site.root), site.ledger):
        site.ledger.apply(value)
        values.append(value.directory)
    assert sorted(values) == [b"", b"0", b"1", b"2", b"3"]


def test_a_scan_leaves_no_descriptor_open(site):
    site.write("a/b/c.md")
    before = _descriptors()
    site.look()
    list(zip(range(1), scan(ScanRoot(path=site.root), site.ledger), strict=False))
    assert _descriptors() == before


def _descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_tree_deeper_than_a_path_may_be_long_is_scanned(site):
    depth, part = 30, "d" * 200
    fd = os.open(site.folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(part, dir_fd=fd)
        below = os.open(part, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    assert added(site.look()) == {b"/".join([part.encode()] * depth) + b"/deep.md"}
