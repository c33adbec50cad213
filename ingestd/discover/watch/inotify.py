"""Watchdog's observer for Linux, without the parts that lose events in silence.

Three things differ from watchdog 7.1 as it is. An overflow of the kernel's queue is reported, where watchdog throws
away what it has and rebuilds every watch, which takes so long that the next overflow follows. A directory that cannot
be watched is remembered, where watchdog passes over it. A directory can be watched later, when a scan comes by it.
"""

import errno
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from watchdog.observers.inotify import InotifyEmitter, InotifyObserver, InotifyWatchGroup
from watchdog.observers.inotify_c import WatchDescriptor

LIMITS = frozenset((errno.ENOSPC, errno.EMFILE, errno.ENOMEM))
"""Errors that mean that the kernel grants no more watches."""


def _ignore() -> None:
    """Stands where nobody asked to hear of an overflow."""


@dataclass
class WatchGroup(InotifyWatchGroup):
    """Watches of one root, one for each directory."""

    overflowed: Callable[[], None] = _ignore
    unwatched: set[bytes] = field(default_factory=set[bytes])
    """Absolute paths of directories for which the kernel granted no watch."""

    def on_queue_overflow(self) -> None:
        """Say so. The watches stay; a scan finds what the lost events were about, and :meth:`cover` watches it."""
        self.overflowed()

    def cover(self, path: bytes) -> None:
        """Watch the directory, unless it is."""
        with self._lock:
            if self._is_active and not self._covers(path):
                self._add_callback(path)

    def watched(self) -> int:
        """How many directories are watched."""
        return len(self._active_callbacks_by_watch)

    def _covers(self, path: bytes) -> bool:
        descriptor = self._active_callbacks_by_path.get(path)
        return descriptor is not None and self._active_callbacks_by_watch.get(descriptor) == path

    def _add_callback(self, path: bytes) -> None:
        # The same inode keeps its descriptor: after a move whose event was lost, the watch is renamed by this.
        try:
            with self._inotify_fd._lock:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                watch = self._inotify_fd._get_or_create_watch(path, self.event_mask)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                watch.callbacks[self._id] = self._callback
        except OSError as error:
            if path == self.path:
                raise
            if error.errno in LIMITS:
                self.unwatched.add(path)
            return
        if watch.wd < 0:  # no permission: watchdog keeps a watch of this number for all such directories
            return
        self.unwatched.discard(path)
        former = self._active_callbacks_by_watch.get(watch.wd)
        if former is not None and former != path and self._active_callbacks_by_path.get(former) == watch.wd:
            del self._active_callbacks_by_path[former]
        self._active_callbacks_by_path[path] = watch.wd
        self._active_callbacks_by_watch[watch.wd] = path

    def _remove_watch_internally(self, wd: WatchDescriptor) -> None:
        # Watchdog's own raises, in the thread that reads, where a directory was replaced by another of its name.
        path = self._active_callbacks_by_watch.pop(wd, None)
        if path is not None and self._active_callbacks_by_path.get(path) == wd:
            del self._active_callbacks_by_path[path]


class Emitter(InotifyEmitter):
    """Turns what the kernel says of one root into watchdog's events."""

    overflowed: Callable[[], None] = staticmethod(_ignore)
    group: WatchGroup | None = None
    """The watches, from the start on."""

    def on_thread_start(self) -> None:
        """Arm the watches.

        Raises
        ------
        OSError
            When the root itself cannot be watched.
        """
        self.group = self._inotify = WatchGroup(
            self._inotify_fd,
            os.fsencode(self.watch.path),
            is_recursive=self.watch.is_recursive,
            event_mask=self.get_event_mask_from_filter(),
            follow_symlink=False,
            overflowed=self.overflowed,
        )


class Observer(InotifyObserver):
    """Observer of one root; an :class:`~ingestd.discover.watch.armed.Armed`.

    Parameters
    ----------
    overflowed
        Called, from the thread that reads events, when the kernel's queue overflowed.

    Raises
    ------
    OSError
        ``EMFILE`` when the kernel grants this user no more inotify instances.
    """

    def __init__(self, overflowed: Callable[[], None]) -> None:
        super().__init__()
        self._emitter_class = type("_Emitter", (Emitter,), {"overflowed": staticmethod(overflowed)})

    def threads(self) -> tuple[threading.Thread, ...]:
        """The threads without any of which no event arrives."""
        return (self, self._inotify_fd, *self.emitters)

    def cover(self, path: bytes) -> None:
        """Watch the directory, unless it is."""
        for group in self._groups():
            group.cover(path)

    def watched(self) -> int:
        """How many directories are watched."""
        return sum(group.watched() for group in self._groups())

    def unwatched(self) -> frozenset[bytes]:
        """Absolute paths of the directories for which the kernel granted no watch."""
        return frozenset(path for group in self._groups() for path in group.unwatched.copy())

    def disarm(self, timeout_seconds: float) -> None:
        """Stop all threads and give the kernel's descriptor back."""
        reader = self._inotify_fd
        # A living reader closes it on its way out; one that died while it read never does.
        left_open = not reader.is_alive() and reader._is_reading and not reader._closed  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        self.stop()
        if left_open:
            reader._close_resources()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if self.is_alive():
            self.join(timeout_seconds)

    def _groups(self) -> tuple[WatchGroup, ...]:
        emitters = (emitter for emitter in tuple(self.emitters) if isinstance(emitter, Emitter))
        return tuple(emitter.group for emitter in emitters if emitter.group is not None)
