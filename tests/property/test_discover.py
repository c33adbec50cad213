"""Properties of the pure parts of discovery, and a state machine that changes a real tree."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ingestd.discover.difference import Difference, difference, moves, same
from ingestd.discover.guard import emptied, mass_removal
from ingestd.discover.listing import DirectoryScan
from ingestd.discover.rules import WANTED, Ignored, Rules, top_rules
from ingestd.discover.scan import ScanRoot, scan
from ingestd.discover.settle import Settling
from ingestd.model.source import Signature

NAMES = st.sampled_from([b"a", b"b", b"c", b"d\n", b"\xff"])
SIGNATURES = st.builds(
    Signature,
    size=st.integers(0, 2),
    mtime_ns=st.integers(0, 2),
    ctime_ns=st.integers(0, 2),
    inode=st.integers(1, 3),
)
KNOWN = st.dictionaries(NAMES, st.none() | SIGNATURES)
SEEN = st.dictionaries(NAMES, SIGNATURES)


def applied(known: Mapping[bytes, Signature | None], found: Difference) -> dict[bytes, Signature | None]:
    result = {name: signature for name, signature in known.items() if name not in found.removed}
    return {**result, **found.added, **found.changed}


@given(KNOWN, SEEN)
def test_a_difference_applied_to_what_was_known_gives_what_was_seen(known, seen):
    assert applied(known, difference(known, seen)) == seen


@given(KNOWN, SEEN, st.booleans())
def test_a_difference_counts_every_name_once(known, seen, ignore_inode):
    found = difference(known, seen, ignore_inode=ignore_inode)
    parts = [set(found.added), set(found.changed), set(found.removed)]
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert len(found.added) + len(found.changed) + found.unchanged == len(seen)
    assert len(found.removed) + len(found.changed) + found.unchanged == len(known)
    assert all(known[name] is not None for name in set(known) & set(seen) if name not in found.changed)


@given(SEEN, SEEN)
def test_what_equals_needs_no_inode_to_equal(known, seen):
    strict, lax = difference(known, seen), difference(known, seen, ignore_inode=True)
    assert set(lax.changed) <= set(strict.changed)


@given(SIGNATURES, SIGNATURES)
def test_sameness_is_mutual(one, other):
    assert same(one, other) == same(other, one) == (one == other)
    assert same(one, other, ignore_inode=True) == same(other, one, ignore_inode=True)


@given(KNOWN, SEEN)
def test_moves_pair_each_path_once_and_only_equals(removed, added):
    pairs = moves(removed, added)
    assert len({old for old, _ in pairs}) == len({new for _, new in pairs}) == len(pairs)
    for old, new in pairs:
        before = removed[old]
        assert before is not None
        key = (before.inode, before.size, before.mtime_ns)
        assert key == (added[new].inode, added[new].size, added[new].mtime_ns)
        twins = [s for s in removed.values() if s is not None and (s.inode, s.size, s.mtime_ns) == key]
        assert len(twins) == 1


@given(st.dictionaries(NAMES, SIGNATURES, min_size=1))
def test_a_renamed_tree_is_all_moves_where_inodes_differ(removed):
    distinct = {name: Signature(size=1, mtime_ns=1, ctime_ns=1, inode=n) for n, name in enumerate(removed)}
    renamed = {b"new/" + name: signature for name, signature in distinct.items()}
    assert set(moves(distinct, renamed)) == {(name, b"new/" + name) for name in distinct}


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_more_removals_never_need_less_of_a_question(removed, known):
    assert mass_removal(removed, known) <= mass_removal(removed + 1, known)
    assert mass_removal(removed, known) >= mass_removal(removed, known + 1)
    if emptied(removed, known):
        assert known > 0


GLOBS = st.sampled_from(["*.md", "a", "/a", "a/", "!a", "*", "!*.md", "b/**", "**/c", "a/b", "[ab]*", "!/b/"])
PARTS = st.sampled_from([b"a", b"b", b"c.md", b"a.md", b"x\ny", b"\xfe"])


@given(st.lists(GLOBS, max_size=4), st.lists(PARTS, min_size=1, max_size=3), st.booleans())
def test_lines_in_the_root_mean_the_same_in_its_configuration(globs, parts, is_directory):
    configured = top_rules(Rules(exclude=tuple(globs)))
    local, bad = top_rules(Rules()).reading("\n".join(globs).encode())
    assert bad == ()
    directory = b"/".join(parts[:-1])
    one = configured.enter(directory).verdict(parts[-1], is_directory=is_directory)
    other = local.enter(directory).verdict(parts[-1], is_directory=is_directory)
    assert isinstance(one, Ignored) == isinstance(other, Ignored)


@given(st.lists(GLOBS, max_size=4), st.lists(PARTS, min_size=1, max_size=3))
def test_a_rules_file_says_nothing_of_what_lies_outside_its_directory(globs, parts):
    inner, _ = top_rules(Rules()).enter(b"deep/er").reading("\n".join(globs).encode())
    as_root, _ = top_rules(Rules()).reading("\n".join(globs).encode())
    below = b"/".join(parts[:-1])
    at = b"deep/er/" + below if below else b"deep/er"
    one = inner.enter(at).verdict(parts[-1], is_directory=False)
    other = as_root.enter(below).verdict(parts[-1], is_directory=False)
    assert isinstance(one, Ignored) == isinstance(other, Ignored)


@given(st.binary(min_size=1, max_size=20), st.booleans())
def test_every_name_has_a_verdict(name, is_directory):
    verdict = top_rules(Rules(include=("*.md",), exclude=("a*", "!b*"))).verdict(name, is_directory=is_directory)
    assert verdict == WANTED or isinstance(verdict, Ignored)


@given(st.binary(max_size=60))
@example(b"[b-a]\n*.md")
@example(b"[[]")
def test_any_bytes_may_be_a_rules_file(content):
    rules, _ = top_rules(Rules()).reading(content)
    rules.verdict(b"a.md", is_directory=False)


LOOKS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2), st.integers(-5, 30)), max_size=25)


@given(LOOKS, st.integers(0, 5))
def test_what_settles_was_seen_alike_long_enough_and_is_old_enough(looks, settle_seconds):
    settling = Settling[str](float(settle_seconds))
    history: list[tuple[float, Signature]] = []
    now = 0.0
    for wait, size, age in looks:
        now += wait / 10
        wall = 1_000_000_000_000
        seen = Signature(size=size, mtime_ns=wall - age * 100_000_000, ctime_ns=0, inode=1)
        history.append((now, seen))
        if settling.look("x", seen, now, wall):
            run_began = now
            for at, before in reversed(history):
                if before != seen:
                    break
                run_began = at
            assert now - run_began >= settle_seconds - 1e-9
            assert age < 0 or age / 10 >= settle_seconds
            history.clear()
            assert "x" not in settling
        else:
            assert "x" in settling
            due = settling.next_due()
            assert due is not None
            assert now <= due <= now + max(settle_seconds * 10, settle_seconds + 1)


class DictLedger:
    """Known sources in a dictionary of directories."""

    def __init__(self) -> None:
        self.files: dict[bytes, dict[bytes, Signature | None]] = {}

    def in_directory(self, directory: bytes) -> Mapping[bytes, Signature | None]:
        return dict(self.files.get(directory, {}))

    def directories(self) -> Iterator[bytes]:
        return iter(sorted(directory for directory, names in self.files.items() if names))

    def count(self) -> int:
        return sum(len(names) for names in self.files.values())

    def apply(self, found: DirectoryScan) -> None:
        names = self.files.setdefault(found.directory, {})
        names.update(found.difference.added)
        names.update(found.difference.changed)
        for name in found.difference.removed:
            del names[name]

    def as_paths(self) -> dict[bytes, Signature | None]:
        return {d + b"/" + n if d else n: s for d, names in self.files.items() for n, s in names.items()}


DIRECTORIES = st.sampled_from([b"", b"p", b"q", b"p/r", b"p/r/s", b"q-q", b"q/\xff"])
FILES = st.sampled_from([b"a.md", b"b.md", b"c\nd.md", b"skip.part"])


class Tree(RuleBasedStateMachine):
    """Whatever is done to a tree: after a scan the ledger is the disk, with hints alone as after a full scan."""

    @initialize()
    def begin(self) -> None:
        self.work = Path(tempfile.mkdtemp(prefix="ingestd-tree-"))
        self.root = os.fsencode(self.work / "root")
        self.full, self.hinted = DictLedger(), DictLedger()
        os.mkdir(self.root)  # noqa: PTH102  # bytes
        # An emptied root retires nothing; one name that no rule lets in keeps it from being empty.
        self.write(b"", b"skip.part", b"x")

    def teardown(self) -> None:
        if hasattr(self, "work"):
            shutil.rmtree(self.work)

    def at(self, *parts: bytes) -> Path:
        return Path(os.fsdecode(b"/".join(part for part in (self.root, *parts) if part)))

    @rule(directory=DIRECTORIES, name=FILES, content=st.binary(min_size=1, max_size=3))
    def write(self, directory: bytes, name: bytes, content: bytes) -> None:
        path = self.at(directory, name)
        if path.is_dir() or any(parent.is_file() for parent in path.parents):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    @rule(directory=DIRECTORIES, name=FILES, content=st.binary(min_size=1, max_size=3))
    def save_atomically(self, directory: bytes, name: bytes, content: bytes) -> None:
        path = self.at(directory, name)
        if path.parent.is_dir() and not path.is_dir():
            aside = path.with_name("aside.part")
            aside.write_bytes(content)
            aside.replace(path)

    @rule(directory=DIRECTORIES, name=FILES)
    def remove(self, directory: bytes, name: bytes) -> None:
        if name != b"skip.part":
            path = self.at(directory, name)
            if path.is_file():
                path.unlink()

    @rule(directory=DIRECTORIES, name=FILES, other=DIRECTORIES, new_name=FILES)
    def rename(self, directory: bytes, name: bytes, other: bytes, new_name: bytes) -> None:
        source, target = self.at(directory, name), self.at(other, new_name)
        if b"skip.part" not in (name, new_name) and source.is_file() and target.parent.is_dir() and not target.is_dir():
            source.replace(target)

    @rule(directory=DIRECTORIES, other=DIRECTORIES)
    def rename_directory(self, directory: bytes, other: bytes) -> None:
        source, target = self.at(directory), self.at(other)
        free = directory and other and source.is_dir() and not target.exists() and target.parent.is_dir()
        if free and not target.is_relative_to(source):
            source.rename(target)

    @rule(directory=DIRECTORIES)
    def remove_directory(self, directory: bytes) -> None:
        if directory:
            shutil.rmtree(self.at(directory), ignore_errors=True)

    @rule(directory=DIRECTORIES, name=FILES)
    def replace_with_a_fifo(self, directory: bytes, name: bytes) -> None:
        path = self.at(directory, name)
        if path.is_file() and name != b"skip.part":
            path.unlink()
            os.mkfifo(path)

    @rule()
    def scan_all(self) -> None:
        for found in scan(ScanRoot(path=self.root), self.full):
            self.full.apply(found)
        assert self.full.as_paths() == self.disk()

    @rule()
    def scan_hinted(self) -> None:
        hints = [b"", b"p", b"q", b"p/r", b"p/r/s", b"q-q", b"q/\xff"]
        for deep in (False, True):
            chosen = hints if not deep else hints[1:]
            for found in scan(ScanRoot(path=self.root), self.hinted, directories=chosen, deep=deep):
                self.hinted.apply(found)
        assert self.hinted.as_paths() == self.disk()

    @invariant()
    def a_scan_without_changes_finds_none(self) -> None:
        if hasattr(self, "full") and self.full.as_paths() == self.disk():
            found = list(scan(ScanRoot(path=self.root), self.full))
            assert not any(f.difference.added or f.difference.changed or f.difference.removed for f in found)

    def disk(self) -> dict[bytes, Signature | None]:
        result: dict[bytes, Signature | None] = {}
        for directory, _, names in os.walk(self.root):
            for name in names:
                path = directory + b"/" + name
                status = os.lstat(path)
                if name.endswith(b".md") and status.st_mode & 0o170000 == 0o100000:
                    result[path[len(self.root) + 1 :]] = Signature.of(status)
        return result


TestTree = Tree.TestCase
TestTree.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
