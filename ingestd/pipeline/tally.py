"""Counts of what a run did, for people and for ``--json``."""

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic


@dataclass(slots=True, kw_only=True)
class Tally:
    """Sums over one run; safe from any thread."""

    counts: Counter[str] = field(default_factory=Counter)
    """By the names of ``sync --json``."""
    seconds: Counter[str] = field(default_factory=Counter)
    """By stage, summed over threads."""
    touched: dict[str, set[tuple[int, bytes]]] = field(default_factory=dict)
    """Sources (root id, path) that were ``added``, ``changed``, ``moved``, ``removed``: each counts once, however often
    it was looked at."""
    unread: dict[tuple[int, bytes], str] = field(default_factory=dict)
    """Why directories (root id, path) could not be looked into: what is in them is as it was known."""
    started: float = field(default_factory=monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self.counts[name] += count

    def touch(self, name: str, root_id: int, path: bytes) -> None:
        """Count a source once under the name."""
        with self._lock:
            self.touched.setdefault(name, set()).add((root_id, path))

    def touch_all(self, other: "Tally") -> None:
        """Count what another run touched or left unread, each source once."""
        with self._lock:
            for name, keys in other.touched.items():
                self.touched.setdefault(name, set()).update(keys)
            self.unread.update(other.unread)

    def leave_unread(self, root_id: int, directory: bytes, reason: str) -> None:
        """Note a directory that could not be looked into."""
        with self._lock:
            self.unread[root_id, directory] = reason

    def untouch(self, name: str, root_id: int, path: bytes) -> None:
        """Take a source out of those counted under the name."""
        with self._lock:
            self.touched.get(name, set()).discard((root_id, path))

    def forget_touched(self) -> None:
        """Begin to count sources anew: a run without end must not remember each of them."""
        with self._lock:
            self.touched.clear()
            self.unread.clear()

    def touch_move(self, root_id: int, old: bytes, new: bytes) -> None:
        """Count a move, which is neither a removal nor an addition."""
        with self._lock:
            self.touched.get("removed", set()).discard((root_id, old))
            self.touched.get("added", set()).discard((root_id, new))
            self.touched.setdefault("moved", set()).add((root_id, new))

    def spent(self, stage: str, seconds: float) -> None:
        """Count time of a stage."""
        with self._lock:
            self.seconds[stage] += seconds  # type: ignore[assignment]  # a Counter sums floats as well

    @contextmanager
    def timed(self, stage: str) -> Generator[None]:
        """Count the time of a block."""
        begun = monotonic()
        try:
            yield
        finally:
            self.spent(stage, monotonic() - begun)
