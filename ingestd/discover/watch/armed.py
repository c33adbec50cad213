"""Arms watchdog on this platform."""

import os
import sys
import threading
from collections.abc import Callable
from typing import Protocol

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver


class Armed(Protocol):
    """A running observer of one root."""

    def threads(self) -> tuple[threading.Thread, ...]:
        """The threads without any of which no event arrives."""
        ...

    def cover(self, path: bytes) -> None:
        """Watch the directory, unless it is."""
        ...

    def watched(self) -> int:
        """How many directories are watched."""
        ...

    def unwatched(self) -> frozenset[bytes]:
        """Absolute paths of the directories for which no watch is to be had."""
        ...

    def disarm(self, timeout_seconds: float) -> None:
        """Stop all threads and let go of every watch."""
        ...


def arm(
    root: bytes,
    callback: FileSystemEventHandler,
    overflowed: Callable[[], None],
    events: list[type[FileSystemEvent]],
    *,
    recursive: bool,
) -> Armed:
    """Start an observer of the root.

    Raises
    ------
    OSError
        When the root cannot be watched, or the system grants no watch.
    """
    if sys.platform == "linux":
        from ingestd.discover.watch.inotify import Observer

        observer = Observer(overflowed)
        _start(observer, observer, root, callback, events, recursive=recursive)
        return observer
    from watchdog.observers import Observer as PlatformObserver

    plain = PlatformObserver()
    whole = _WholeTree(plain)
    _start(plain, whole, root, callback, events, recursive=recursive)
    return whole


class _WholeTree:
    """Where the system watches a tree as one: nothing can be left out."""

    def __init__(self, observer: BaseObserver) -> None:
        self._observer = observer

    def threads(self) -> tuple[threading.Thread, ...]:
        return (self._observer, *self._observer.emitters)

    def cover(self, path: bytes) -> None:
        pass

    def watched(self) -> int:
        return 1

    def unwatched(self) -> frozenset[bytes]:
        return frozenset()

    def disarm(self, timeout_seconds: float) -> None:
        self._observer.stop()
        if self._observer.is_alive():
            self._observer.join(timeout_seconds)


def _start(
    observer: BaseObserver,
    armed: Armed,
    root: bytes,
    callback: FileSystemEventHandler,
    events: list[type[FileSystemEvent]],
    *,
    recursive: bool,
) -> None:
    observer.name = f"watch {os.fsdecode(root)}"
    try:
        observer.schedule(callback, os.fsdecode(root), recursive=recursive, event_filter=events)
        observer.start()
    except OSError:
        armed.disarm(1.0)
        raise
