import errno
import os
from pathlib import Path

import pytest

from ingestd.beneath import kernel_resolves, open_beneath, open_by_parts, resolve_inside

OPENERS = [open_beneath, open_by_parts]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_bytes(b"inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"outside")
    return root


@pytest.fixture
def root_fd(tree: Path):
    fd = os.open(tree, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def refusal(opener, root_fd: int, path: bytes, flags: int = os.O_RDONLY) -> int:
    with pytest.raises(OSError) as caught:
        os.close(opener(root_fd, path, flags))
    return caught.value.errno


@pytest.mark.parametrize("opener", OPENERS)
def test_a_file_below_is_opened(opener, root_fd):
    with os.fdopen(opener(root_fd, b"a/b/file"), "rb") as file:
        assert file.read() == b"inside"
        assert not os.get_inheritable(file.fileno())


@pytest.mark.parametrize("opener", OPENERS)
def test_the_empty_path_is_the_directory_itself(opener, root_fd):
    fd = opener(root_fd, b"", os.O_RDONLY | os.O_DIRECTORY)
    assert os.listdir(fd) == ["a"]  # noqa: PTH208  # a descriptor
    os.close(fd)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_link_is_refused_wherever_it_stands(opener, tree, root_fd):
    (tree / "a" / "way").symlink_to("../../outside")
    (tree / "a" / "last").symlink_to("b/file")
    (tree / "a" / "inside").symlink_to("b")
    assert refusal(opener, root_fd, b"a/way/file") == errno.ELOOP
    assert refusal(opener, root_fd, b"a/last") == errno.ELOOP
    assert refusal(opener, root_fd, b"a/inside/file") == errno.ELOOP
    assert refusal(opener, root_fd, b"a/inside", os.O_RDONLY | os.O_DIRECTORY) == errno.ELOOP


def test_paths_that_leave_the_directory_are_refused(root_fd):
    assert refusal(open_beneath, root_fd, b"../outside/file") == errno.EXDEV
    assert refusal(open_beneath, root_fd, b"a/../../outside/file") == errno.EXDEV
    assert refusal(open_beneath, root_fd, b"/etc/hostname") == errno.EXDEV
    assert refusal(open_beneath, root_fd, b"a\0b") == errno.EINVAL


@pytest.mark.parametrize("opener", OPENERS)
def test_what_is_missing_is_missing(opener, root_fd):
    assert refusal(opener, root_fd, b"a/none/file") == errno.ENOENT
    assert refusal(opener, root_fd, b"a/b/file/more") == errno.ENOTDIR


@pytest.mark.parametrize("opener", OPENERS)
def test_no_descriptor_is_left_behind(opener, root_fd):
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208  # names are enough
    os.close(opener(root_fd, b"a/b/file"))
    refusal(opener, root_fd, b"a/b/none")
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208  # names are enough


def test_a_path_longer_than_the_kernel_takes_is_opened_by_parts(root_fd):
    assert refusal(open_beneath, root_fd, b"/".join([b"x" * 100] * 60)) == errno.ENOENT


def test_the_probe_answers_the_same_each_time():
    assert kernel_resolves() is kernel_resolves()


def test_a_link_resolves_only_inside(tree):
    root = os.fsencode(tree)
    (tree / "in").symlink_to("a/b")
    (tree / "absolute").symlink_to(tree / "a" / "b" / "file")
    (tree / "top").symlink_to(".")
    (tree / "out").symlink_to("../outside")
    (tree / "loop").symlink_to("loop")
    (tree / "nothing").symlink_to("none")
    assert resolve_inside(root, b"in/file") == b"a/b/file"
    assert resolve_inside(root, b"absolute") == b"a/b/file"
    assert resolve_inside(root, b"top") == b""
    assert resolve_inside(root, b"a/b") == b"a/b"
    assert resolve_inside(root, b"out/file") is None
    assert resolve_inside(root, b"loop") is None
    assert resolve_inside(root, b"nothing") is None
