import contextlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.events import FileClosedEvent, FileCreatedEvent, FileMovedEvent
from watchdog.observers.inotify import InotifyWatchGroup
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD

from ingestd.discover.watch import Broken, Degraded, Hints, Polling, Watch, Watching
from ingestd.discover.watch.health import refusal, way_out
from ingestd.discover.watch.hints import MOST_HINTS, HintSet
from ingestd.discover.watch.inotify import Observer, WatchGroup

DEADLINE_SECONDS = 20.0


@pytest.fixture
def wake() -> threading.Event:
    return threading.Event()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    return folder


@pytest.fixture
def watch(root: Path, wake: threading.Event) -> Iterator[Watch]:
    watch = Watch(os.fsencode(root), wake)
    assert isinstance(watch.start(), Watching)
    yield watch
    watch.stop()


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        threading.Event().wait(0.01)


def hinted(watch: Watch, *, shallow: tuple[bytes, ...] = (), deep: tuple[bytes, ...] = ()) -> None:
    """Wait until all of these were hinted at."""
    got: dict[str, set[bytes]] = {"shallow": set(), "deep": set()}

    def complete() -> bool:
        hints = watch.take()
        got["shallow"] |= hints.shallow
        got["deep"] |= hints.deep
        return got["shallow"] >= set(shallow) and got["deep"] >= set(deep)

    eventually(complete)


def reader(watch: Watch) -> InotifyFD:
    observer = watch._observer
    assert isinstance(observer, Observer)
    return observer._inotify_fd


def descriptors() -> list[str]:
    """What this process has open."""
    targets = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            targets.append(str(link.readlink()))
    return sorted(target for target in targets if not target.startswith("/proc/"))


def only_group(watch: Watch) -> WatchGroup:
    observer = watch._observer
    assert isinstance(observer, Observer)
    (group,) = observer._groups()
    return group


def test_a_new_file_hints_at_its_directory_and_wakes(watch, root, wake):
    (root / "sub" / "a.md").write_bytes(b"x")
    assert wake.wait(DEADLINE_SECONDS)
    hinted(watch, shallow=(b"sub",))


def test_a_file_of_the_root_hints_at_the_root_alone(watch, root):
    (root / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"",))


def test_a_removed_file_hints_at_its_directory(watch, root):
    (root / "sub" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))
    (root / "sub" / "a.md").unlink()
    hinted(watch, shallow=(b"sub",))


def test_an_atomic_save_hints_at_its_directory(watch, root):
    (root / "sub" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))
    (root / "sub" / ".a.tmp").write_bytes(b"y")
    (root / "sub" / ".a.tmp").replace(root / "sub" / "a.md")
    hinted(watch, shallow=(b"sub",))


def test_directories_made_with_files_in_them_at_once_are_hinted_at(watch, root):
    (root / "p" / "q" / "r").mkdir(parents=True)
    (root / "p" / "q" / "r" / "a.md").write_bytes(b"x")
    hinted(watch, deep=(b"p",))
    eventually(lambda: watch.check().directories == 5)
    watch.take()
    (root / "p" / "q" / "r" / "b.md").write_bytes(b"x")
    hinted(watch, shallow=(b"p/q/r",))


def test_a_moved_directory_hints_at_both_places_and_is_watched_on(watch, root):
    (root / "sub" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))
    (root / "sub").rename(root / "new")
    hinted(watch, deep=(b"sub", b"new"))
    (root / "new" / "b.md").write_bytes(b"x")
    hinted(watch, shallow=(b"new",))


def test_a_tree_moved_in_is_hinted_at_and_watched(watch, root, tmp_path):
    (tmp_path / "outside" / "in").mkdir(parents=True)
    (tmp_path / "outside").rename(root / "moved")
    hinted(watch, deep=(b"moved",))
    eventually(lambda: watch.check().directories == 4)
    (root / "moved" / "in" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"moved/in",))


def test_a_tree_moved_out_is_hinted_at(watch, root, tmp_path):
    (root / "sub").rename(tmp_path / "outside")
    hinted(watch, deep=(b"sub",))


def test_a_changed_rules_file_hints_at_all_below_it(watch, root):
    (root / "sub" / ".ingestignore").write_bytes(b"*.log\n")
    hinted(watch, deep=(b"sub",))


def test_names_that_are_no_text_are_hinted_at(watch, root):
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\n")).mkdir()
    hinted(watch, deep=(b"\xff\n",))


def test_reading_a_file_hints_at_nothing(watch, root):
    (root / "sub" / "a.md").write_bytes(b"x")
    (root / "before").mkdir()
    hinted(watch, deep=(b"before",))  # the kernel keeps the order: all that the write gave rise to has come
    (root / "sub" / "a.md").read_bytes()
    (root / "after").mkdir()
    seen: set[bytes] = set()

    def come() -> bool:
        hints = watch.take()
        seen.update(hints.shallow | hints.deep)
        return b"after" in hints.deep

    eventually(come)
    assert b"sub" not in seen


def test_an_overflow_of_the_kernels_queue_hints_at_everything_and_keeps_the_watches(watch, root):
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text("ascii"))
    group, go_on = only_group(watch), threading.Event()
    (root / "sub" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))
    group.on_event = lambda event: go_on.wait(DEADLINE_SECONDS)  # the thread that reads waits here, and the queue fills
    busy = root / "sub" / "busy.md"
    for _ in range(limit // 3 + 2100):  # three events a turn; the thread took one read of up to 2,048 before it waited
        busy.touch()
        busy.unlink()
    del group.on_event
    go_on.set()
    hinted(watch, deep=(b"",))
    # The hint may come of the log line, a moment before the overflow is counted.
    eventually(lambda: watch.overflows == 1)
    assert watch.check() == Watching(directories=2)
    (root / "sub" / "later.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))


def test_watchdog_still_offers_the_hook_for_overflows(watch):
    """Fails when another watchdog no longer calls it: overflows would be lost in silence."""
    assert callable(InotifyWatchGroup.on_queue_overflow)
    reader(watch).handle_event(InotifyEvent(-1, InotifyConstants.IN_Q_OVERFLOW, 0, b""))
    assert watch.overflows == 1
    assert watch.take().deep == {b""}


def test_the_log_line_of_an_overflow_is_a_second_alarm(watch):
    record = logging.LogRecord("watchdog.observers.inotify_c", logging.WARNING, "", 1, "queue overflowed", (), None)
    record.thread = reader(watch).ident
    logging.getLogger("watchdog.observers.inotify_c").handle(record)
    assert watch.take().deep == {b""}
    record.thread = 0
    logging.getLogger("watchdog.observers.inotify_c").handle(record)
    assert not watch.take()


def test_a_directory_whose_event_was_lost_is_watched_once_a_scan_comes_by(watch, root):
    group = only_group(watch)
    with group._lock:
        group._remove_callbacks([group._active_callbacks_by_path[os.fsencode(root / "sub")]])
    assert watch.check() == Watching(directories=1)
    watch.cover(b"sub")
    watch.cover(b"sub")
    watch.cover(b"")
    assert watch.check() == Watching(directories=2)
    (root / "sub" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))


def test_a_directory_whose_move_was_lost_is_watched_under_its_new_name(watch, root):
    group, lost = only_group(watch), []
    group.on_event = lost.append
    (root / "sub").rename(root / "new")
    eventually(lambda: len(lost) == 2)
    del group.on_event
    watch.cover(b"new")
    assert watch.check() == Watching(directories=2)
    (root / "new" / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"new",))
    (root / "sub").mkdir()
    eventually(lambda: watch.check() == Watching(directories=3))


def test_covering_a_directory_that_is_gone_changes_nothing(watch):
    watch.cover(b"none")
    assert watch.check() == Watching(directories=2)


class Refusing(InotifyFD):
    """A kernel whose limit on watches is reached after the first."""

    granted = 1

    def _get_or_create_watch(self, path, mask):
        if self.granted <= 0:
            raise OSError(28, "inotify watch limit reached")
        self.granted -= 1
        return super()._get_or_create_watch(path, mask)


def test_directories_beyond_the_limit_are_counted_with_the_way_out(watch, root):
    group = only_group(watch)
    refusing = Refusing()
    refusing.granted = 0
    real, group._inotify_fd = group._inotify_fd, refusing
    try:
        (root / "more").mkdir()
        eventually(lambda: isinstance(watch.check(), Degraded))
    finally:
        group._inotify_fd = real
        refusing.close()
        refusing._close_resources()
    health = watch.check()
    assert isinstance(health, Degraded)
    assert (health.watched, health.directories) == (2, 3)
    assert health.way_out.startswith("sysctl -w fs.inotify.max_user_watches=")
    assert watch.unwatched() == (b"more",)
    watch.cover(b"more")
    assert watch.check() == Watching(directories=3)


@pytest.mark.parametrize(("number", "setting"), [(28, "max_user_watches"), (24, "max_user_instances")])
def test_a_kernel_that_grants_no_watch_means_polling_with_the_way_out(number, setting):
    health = refusal(OSError(number, "limit"))
    assert isinstance(health, Polling)
    assert setting in health.way_out


def test_the_way_out_asks_for_more_than_there_is(tmp_path):
    limit = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii"))
    assert way_out("max_user_watches", limit) == f"sysctl -w fs.inotify.max_user_watches={3 * limit}"
    assert way_out("no_such_setting", 1) == "sysctl -w fs.inotify.no_such_setting=16384"


def test_the_limit_on_inotify_instances_means_polling_and_a_later_restart_watches(root, wake):
    taken = []
    try:
        while True:
            descriptor = os.eventfd(0) if len(taken) > 10_000 else InotifyFD._create_inotify_fd()
            taken.append(descriptor)
    except OSError:
        pass
    watch = Watch(os.fsencode(root), wake)
    try:
        assert isinstance(watch.start(), Polling)
        assert isinstance(watch.check(), Polling)
    finally:
        for descriptor in taken:
            os.close(descriptor)
    assert isinstance(watch.restart(), Watching)
    watch.stop()


def test_a_missing_root_is_broken_and_a_restart_heals_it(root, wake):
    shutil.rmtree(root)
    watch = Watch(os.fsencode(root), wake)
    assert isinstance(watch.start(), Broken)
    root.mkdir()
    assert watch.restart() == Watching(directories=1)
    assert watch.take().deep == {b""}
    watch.stop()
    assert isinstance(watch.check(), Broken)


def test_a_root_that_is_a_file_is_broken(root, wake):
    shutil.rmtree(root)
    root.write_bytes(b"")
    assert isinstance(Watch(os.fsencode(root), wake).start(), Broken)


def test_a_root_deleted_and_made_again_is_found_broken_and_watched_anew(watch, root):
    shutil.rmtree(root)
    root.mkdir()
    eventually(lambda: isinstance(watch.check(), Broken))
    assert watch.restart() == Watching(directories=1)
    assert b"" in watch.take().deep
    (root / "a.md").write_bytes(b"x")
    hinted(watch, shallow=(b"",))


def test_a_replaced_root_is_found_broken(watch, root):
    root.rename(root.with_name("old"))
    root.mkdir()
    health = watch.check()
    assert isinstance(health, Broken)
    assert "another directory" in health.reason


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_reader_that_dies_is_found_and_its_descriptor_given_back(watch, root):
    inotify = reader(watch)
    descriptor = inotify._inotify_fd
    # What the thread holds as its descriptor is replaced by one that cannot be read: it dies in the middle of a read.
    broken = os.open(root, os.O_RDONLY)
    inotify._inotify_fd = broken
    inotify._check_inotify_fd = lambda: True
    (root / "a.md").write_bytes(b"x")
    eventually(lambda: isinstance(watch.check(), Broken))
    assert not inotify.is_alive()
    inotify._inotify_fd = descriptor
    os.close(broken)
    assert watch.restart() == Watching(directories=2)
    assert sum(target.endswith("inotify") for target in descriptors()) == 1


def test_an_event_that_cannot_be_understood_hints_at_everything_and_ends_nothing(watch, root):
    class Odd(FileClosedEvent):
        @property
        def is_directory(self):
            raise RuntimeError("no one knows")

    observer = watch._observer
    assert isinstance(observer, Observer)
    watched = next(iter(observer.emitters)).watch
    observer.event_queue.put((Odd(os.fsdecode(root / "a.md")), watched))
    hinted(watch, deep=(b"",))
    assert watch.failures == 1
    (root / "sub" / "b.md").write_bytes(b"x")
    hinted(watch, shallow=(b"sub",))


def test_a_path_that_is_not_below_the_root_hints_at_everything(watch, root):
    watch.note(FileCreatedEvent("/elsewhere/a.md"))
    assert watch.take().deep == {b""}


def test_a_moved_file_hints_at_both_directories(watch, root):
    watch.note(FileMovedEvent(str(root / "sub" / "a.md"), str(root / "b.md")))
    assert watch.take() == Hints(shallow=frozenset((b"sub", b"")))


def test_too_many_hints_become_one(wake):
    hints = HintSet(wake)
    for number in range(MOST_HINTS + 1):
        hints.add(str(number).encode(), deep=False)
    assert hints.take() == Hints(deep=frozenset((b"",)))
    assert not hints.take()


def test_a_root_that_is_not_recursive_watches_itself_alone(root, wake):
    watch = Watch(os.fsencode(root) + b"/", wake, recursive=False)
    assert watch.start() == Watching(directories=1)
    assert watch.start() == Watching(directories=1)
    watch.cover(b"sub")
    assert watch.check() == Watching(directories=1)
    watch.stop()
    watch.stop()


def test_a_watch_leaves_no_thread_and_no_descriptor(root, wake):
    threads, before = threading.active_count(), descriptors()
    watch = Watch(os.fsencode(root), wake)
    watch.start()
    watch.stop()
    eventually(lambda: threading.active_count() == threads)
    assert descriptors() == before
