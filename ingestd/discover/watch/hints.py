"""Collects the directories in which something may have changed."""

import threading
from dataclasses import dataclass

MOST_HINTS = 20_000
"""Beyond this many directories one scan of the whole root is cheaper than the list, and memory stays bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """Directories to scan, relative to the root; ``b""`` is the root itself."""

    shallow: frozenset[bytes] = frozenset()
    """Something changed among their direct entries."""
    deep: frozenset[bytes] = frozenset()
    """Anything below them may have changed; some may be gone."""

    def __bool__(self) -> bool:
        return bool(self.shallow or self.deep)


class HintSet:
    """Hints as they come in, from any thread; setting ``wake`` with each.

    Parameters
    ----------
    wake
        Set whenever there is something to take. It may be shared: clear it before taking.
    """

    def __init__(self, wake: threading.Event) -> None:
        self.wake = wake
        self._lock = threading.Lock()
        self._shallow: set[bytes] = set()
        self._deep: set[bytes] = set()

    def add(self, directory: bytes, *, deep: bool) -> None:
        """Add one directory."""
        with self._lock:
            if b"" in self._deep:
                return
            (self._deep if deep else self._shallow).add(directory)
            if len(self._shallow) + len(self._deep) > MOST_HINTS or (deep and directory == b""):
                self._shallow.clear()
                self._deep = {b""}
        self.wake.set()

    def take(self) -> Hints:
        """What came in since the last time."""
        with self._lock:
            hints = Hints(shallow=frozenset(self._shallow), deep=frozenset(self._deep))
            self._shallow.clear()
            self._deep.clear()
        return hints
