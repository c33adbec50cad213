"""Watches a root and hints at the directories that changed."""

import errno
import logging
import os
import stat
import threading

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)

from ingestd.discover.root import RootIdentity
from ingestd.discover.rules import RULES_FILE
from ingestd.discover.watch.armed import Armed, arm
from ingestd.discover.watch.health import Broken, Degraded, WatchHealth, Watching, refusal, way_out
from ingestd.discover.watch.hints import Hints, HintSet
from ingestd.model.source import display

EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
"""Opening, reading and each single write are left out: most of the volume, and our own reading among it."""
JOIN_SECONDS = 10.0
_OVERFLOW_LOGGER = "watchdog.observers.inotify_c"


class Watch:
    """Events of one root, as hints.

    Start it before the first scan: what changes in between is then in the hints. No event is trusted; none that is
    lost is lost for good, because scans find what changed.

    Parameters
    ----------
    root
        Absolute path.
    wake
        Set whenever there are hints to take; may be shared between roots.
    recursive
        Whether directories below the root are watched.
    """

    def __init__(self, root: bytes, wake: threading.Event, *, recursive: bool = True) -> None:
        self.root = root.rstrip(b"/") or b"/"
        self.overflows = 0
        """How often the kernel's queue overflowed."""
        self.failures = 0
        """How often an event could not be understood; the whole root was hinted at instead."""
        self._prefix = self.root if self.root.endswith(b"/") else self.root + b"/"
        self._recursive = recursive
        self._hints = HintSet(wake)
        self._observer: Armed | None = None
        self._identity: RootIdentity | None = None
        self._refusal: WatchHealth = Broken(reason="the watch was not started")
        self._alarm = _OverflowAlarm(self)

    def start(self) -> WatchHealth:
        """Arm the watch; it never raises for what the system refuses, but says so."""
        if self._observer is not None:
            return self.check()
        try:
            status = os.stat(self.root)  # noqa: PTH116  # a Path holds no bytes
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            self._identity = RootIdentity.of(status)
            self._observer = arm(self.root, _Callback(self), self.note_overflow, EVENTS, recursive=self._recursive)
        except OSError as error:
            self._refusal = refusal(error)
            return self._refusal
        logging.getLogger(_OVERFLOW_LOGGER).addHandler(self._alarm)
        return self.check()

    def check(self) -> WatchHealth:
        """Whether events still arrive; cheap enough for once a second."""
        observer = self._observer
        if observer is None:
            return self._refusal
        for thread in observer.threads():
            if not thread.is_alive():
                return Broken(reason=f"the thread {thread.name} died")
        try:
            if RootIdentity.of(os.stat(self.root)) != self._identity:  # noqa: PTH116  # a Path holds no bytes
                return Broken(reason=f"another directory stands at {display(self.root)}")
        except OSError as error:
            return Broken(reason=f"{display(self.root)}: {error.strerror}")
        watched, missing = observer.watched(), len(observer.unwatched())
        if not missing:
            return Watching(directories=watched)
        directories = watched + missing
        return Degraded(watched=watched, directories=directories, way_out=way_out("max_user_watches", directories))

    def restart(self) -> WatchHealth:
        """Watch anew, and hint at the whole root: what happened in between is not known."""
        self.stop()
        health = self.start()
        self._hints.add(b"", deep=True)
        return health

    def stop(self) -> None:
        """Let go of the threads and of the kernel's watches."""
        logging.getLogger(_OVERFLOW_LOGGER).removeHandler(self._alarm)
        observer, self._observer = self._observer, None
        self._refusal = Broken(reason="the watch was stopped")
        if observer is not None:
            observer.disarm(JOIN_SECONDS)

    def take(self) -> Hints:
        """Hints since the last time; clear ``wake`` before."""
        return self._hints.take()

    def cover(self, directory: bytes) -> None:
        """See to it that a directory is watched that a scan came by; costs one look-up when it is."""
        observer = self._observer
        if observer is not None and self._recursive:
            observer.cover(self._prefix + directory if directory else self.root)

    def unwatched(self) -> tuple[bytes, ...]:
        """Directories, relative to the root, that the kernel grants no watch for: scan these more often."""
        observer = self._observer
        return () if observer is None else tuple(sorted(self._relative(path) for path in observer.unwatched()))

    def note(self, event: FileSystemEvent) -> None:
        """Turn an event into hints."""
        paths = [os.fsencode(path) for path in (event.src_path, event.dest_path) if path]
        for path in paths:
            relative = self._relative(path)
            above, _, name = relative.rpartition(b"/")
            if event.is_directory or relative == b"":
                self._hints.add(relative, deep=True)
            else:
                self._hints.add(above, deep=name == RULES_FILE)

    def note_loss(self) -> None:
        """Events are missing: anything may have changed."""
        self._hints.add(b"", deep=True)

    def note_overflow(self) -> None:
        """The kernel's queue overflowed."""
        self.overflows += 1
        self.note_loss()

    def reads_in(self, thread: int | None) -> bool:
        """Whether the thread of this identifier reads this root's events."""
        observer = self._observer
        return observer is not None and any(t.ident == thread for t in observer.threads())

    def _relative(self, path: bytes) -> bytes:
        # A path that is not below the root says nothing: look everywhere.
        return path[len(self._prefix) :] if path.startswith(self._prefix) else b""


class _Callback(FileSystemEventHandler):
    """Takes events in the observer's thread, which an exception would end."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def dispatch(self, event: FileSystemEvent) -> None:
        try:
            self._watch.note(event)
        except BaseException:  # noqa: BLE001  # an exception here ends watchdog's thread in silence
            self._watch.failures += 1
            self._watch.note_loss()


class _OverflowAlarm(logging.Handler):
    """Hears of an overflow by watchdog's own log line, should the hook not be called."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.WARNING)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in str(record.msg) and self._watch.reads_in(record.thread):
            self._watch.note_loss()
