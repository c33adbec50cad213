import errno
import hashlib
import os
import resource
import signal
import socket
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingestd.errors import (
    FileEmpty,
    FileStillChanging,
    FileTooLarge,
    FileUnreadable,
    NotARegularFile,
    OutOfSpace,
    SourceGone,
    TransientError,
)
from ingestd.model.source import Signature
from ingestd.stage import Staged, clear, stage
from ingestd.stage.copy import _unwritable, copied, held

LIMIT = 100 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "private"
    folder.mkdir()
    return folder


def take(root: Path, path: str | bytes, into: Path, **options) -> Staged:
    raw = os.fsencode(path)
    try:
        signature = Signature.of(os.stat(os.fsencode(root) + b"/" + raw, follow_symlinks=False))  # noqa: PTH116  # bytes
    except OSError:
        signature = Signature(size=1, mtime_ns=0, ctime_ns=0, inode=0)
    return stage(os.fsencode(root), raw, options.pop("signature", signature), into=into, limit_bytes=LIMIT, **options)


def test_a_file_is_copied_aside_and_fingerprinted(root, into):
    content = os.urandom(3 << 20)
    (root / "a.pdf").write_bytes(content)
    staged = take(root, "a.pdf", into)
    assert staged.fingerprint == hashlib.sha256(content).hexdigest()
    assert staged.size == len(content)
    assert staged.head == content[:4096]
    assert staged.path is not None
    assert staged.path.read_bytes() == content
    assert staged.path.name.startswith(staged.fingerprint)
    assert staged.path.suffix == ".pdf"
    assert staged.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("year", [1601, 1970, 2100, 2400, 9000])
def test_a_file_of_any_year_is_taken(root, into, year):
    path = root / "a.txt"
    path.write_bytes(b"text")
    seconds = int((datetime(year, 1, 2, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    os.utime(path, (seconds, seconds))
    assert take(root, "a.txt", into).size == 4


def test_a_discarded_copy_is_gone_and_may_be_discarded_again(root, into):
    (root / "a.md").write_bytes(b"x")
    staged = take(root, "a.md", into)
    staged.discard()
    staged.discard()
    assert list(into.iterdir()) == []


def test_two_sources_of_the_same_bytes_do_not_share_a_copy(root, into):
    (root / "a.md").write_bytes(b"same")
    (root / "b.md").write_bytes(b"same")
    first, second = take(root, "a.md", into), take(root, "b.md", into)
    assert first.fingerprint == second.fingerprint
    first.discard()
    assert second.path is not None
    assert second.path.read_bytes() == b"same"


def test_without_a_copy_the_content_is_what_was_hashed(root, into):
    (root / "a.md").write_bytes(b"text")
    staged = take(root, "a.md", into, copy=False, keep_content=True)
    assert staged.content == b"text"
    assert staged.path is None
    staged.discard()
    assert take(root, "a.md", into, copy=False).content is None
    assert list(into.iterdir()) == []


def test_an_empty_file_is_refused(root, into):
    (root / "a.md").write_bytes(b"")
    with pytest.raises(FileEmpty, match=r"a\.md"):
        take(root, "a.md", into)


def test_a_file_over_the_limit_is_refused_before_it_is_read(root, into):
    with (root / "huge.pdf").open("wb") as file:
        file.truncate(LIMIT + 1)
    with pytest.raises(FileTooLarge, match=str(LIMIT)):
        take(root, "huge.pdf", into)
    assert list(into.iterdir()) == []


def test_a_missing_file_is_gone(root, into):
    with pytest.raises(SourceGone):
        take(root, "none.md", into)
    with pytest.raises(SourceGone):
        take(root, "none/none.md", into)


def test_a_missing_root_is_tried_again(root, into):
    with pytest.raises(TransientError):
        take(root / "none", "a.md", into)


@pytest.mark.timeout(20)
def test_a_fifo_neither_blocks_nor_passes(root, into):
    os.mkfifo(root / "a.md")
    with pytest.raises(NotARegularFile):
        take(root, "a.md", into)


def test_a_socket_is_refused(root, into, monkeypatch):
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a.md")
        with pytest.raises(NotARegularFile):
            take(root, "a.md", into)


def test_a_directory_is_refused(root, into):
    (root / "a.md").mkdir()
    with pytest.raises(NotARegularFile):
        take(root, "a.md", into)


def test_a_link_is_refused_whether_last_or_on_the_way(root, into, tmp_path):
    (tmp_path / "secret.md").write_bytes(b"secret")
    (root / "last.md").symlink_to(tmp_path / "secret.md")
    (root / "way").symlink_to(tmp_path)
    for path in ("last.md", "way/secret.md"):
        with pytest.raises(NotARegularFile, match="follow_links"):
            take(root, path, into)
    assert list(into.iterdir()) == []


def test_links_within_the_root_are_followed_when_told_so(root, into, tmp_path):
    (tmp_path / "secret.md").write_bytes(b"secret")
    (root / "real").mkdir()
    (root / "real" / "a.md").write_bytes(b"x")
    (root / "alias.md").symlink_to("real/a.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    signature = Signature.of((root / "alias.md").stat())
    assert take(root, "alias.md", into, follow_links=True, signature=signature).size == 1
    with pytest.raises(SourceGone):
        take(root, "out.md", into, follow_links=True)


def test_a_path_that_climbs_out_is_refused(root, into, tmp_path):
    (tmp_path / "secret.md").write_bytes(b"secret")
    with pytest.raises(NotARegularFile):
        take(root, "../secret.md", into)


def test_nothing_outside_is_read_while_a_directory_is_swapped_for_a_link(root, into, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_bytes(b"secret")
    (root / "real").mkdir()
    (root / "real" / "a.md").write_bytes(b"inside")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "real").rename(root / "way")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            (root / "way").rename(root / "real")
            (root / "link").rename(root / "way")
            (root / "way").rename(root / "link")
            (root / "real").rename(root / "way")

    signature = Signature.of((root / "way" / "a.md").stat())
    swapping = threading.Thread(target=swap)
    swapping.start()
    taken = refused = 0
    try:
        for _ in range(1000):
            try:
                staged = take(root, "way/a.md", into, signature=signature, copy=False, keep_content=True)
            except (NotARegularFile, SourceGone):
                refused += 1
                continue
            taken += 1
            assert staged.content == b"inside"
    finally:
        over.set()
        swapping.join()
    assert taken + refused == 1000


def test_a_file_without_permission_is_unreadable():
    # In a folder that every user may enter: root gives up its privileges for a moment.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "a.md").write_bytes(b"x")
        (root / "a.md").chmod(0)
        was_root = os.geteuid() == 0
        if was_root:
            os.seteuid(65534)
        try:
            with pytest.raises(FileUnreadable, match="Permission denied"):
                take(root, "a.md", root)
        finally:
            if was_root:
                os.seteuid(0)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_an_error_of_the_disk_makes_a_file_unreadable():
    fd = os.open("/proc/self/mem", os.O_RDONLY)  # nothing is mapped at its start
    try:
        with pytest.raises(FileUnreadable, match="while it was read"):
            held(fd, "a.md", 1)
    finally:
        os.close(fd)


def test_a_file_other_than_it_settled_is_still_changing(root, into):
    (root / "a.md").write_bytes(b"one")
    signature = Signature.of((root / "a.md").stat())
    (root / "a.md").write_bytes(b"other")
    with pytest.raises(FileStillChanging):
        take(root, "a.md", into, signature=signature)


def test_a_file_replaced_under_another_inode_but_otherwise_the_same_is_taken(root, into):
    (root / "a.md").write_bytes(b"one")
    seen = Signature.of((root / "a.md").stat())
    other = Signature(size=seen.size, mtime_ns=seen.mtime_ns, ctime_ns=seen.ctime_ns, inode=seen.inode + 1)
    assert take(root, "a.md", into, signature=other).size == 3


def test_a_file_that_changes_while_it_is_read_is_still_changing_and_leaves_no_copy(root, into):
    target = root / "a.bin"
    target.write_bytes(bytes(32 << 20))
    signature = Signature.of(target.stat())
    over, began = threading.Event(), threading.Event()

    def append() -> None:
        with target.open("ab", buffering=0) as file:
            while not over.is_set():
                file.write(b"x" * 4096)
                began.set()

    appending = threading.Thread(target=append)
    appending.start()
    began.wait(10)
    try:
        with pytest.raises(FileStillChanging):
            take(root, "a.bin", into, signature=signature)
    finally:
        over.set()
        appending.join()
    assert list(into.iterdir()) == []


def test_reading_ends_where_a_growing_file_outgrew_what_was_expected(root, into):
    (root / "a.bin").write_bytes(bytes(8 << 20))
    fd = os.open(root / "a.bin", os.O_RDONLY)
    copy = held(fd, "a.bin", 1 << 20)
    os.close(fd)
    assert 1 << 20 < copy.size <= 2 << 20


def test_a_copy_that_cannot_be_written_leaves_nothing_behind(root, into):
    (root / "a.bin").write_bytes(bytes(4 << 20))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(TransientError, match="cannot write to"):
            take(root, "a.bin", into)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, former)
    assert list(into.iterdir()) == []


def test_no_room_is_told_apart_from_other_faults(root):
    (root / "a.bin").write_bytes(b"x")
    fd = os.open(root / "a.bin", os.O_RDONLY)
    try:
        with pytest.raises(TransientError, match="cannot write to"):
            copied(fd, root / "none" / "aside", "a.bin", 1)
    finally:
        os.close(fd)
    assert isinstance(_unwritable(root / "a", OSError(errno.ENOSPC, "full")), OutOfSpace)
    assert isinstance(_unwritable(root / "a", OSError(errno.EDQUOT, "quota")), OutOfSpace)


@pytest.mark.parametrize(
    "name", [b"new\nline.md", b"\xff\xfe.md", b"-rf.md", b"n" * 252 + b".md", b"a.\xffpdf", b"a.tar.gz", b".md", b"a."]
)
def test_any_name_is_taken(root, into, name):
    Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(b"x")
    staged = take(root, name, into)
    assert staged.path is not None
    assert staged.path.name.isascii()
    assert staged.path.parent == into


def test_copies_left_by_a_killed_process_are_cleared(root, into):
    (root / "a.md").write_bytes(b"x")
    take(root, "a.md", into)
    (into / ".aside-0").write_bytes(b"half")
    assert clear(into) == 2
    assert list(into.iterdir()) == []
