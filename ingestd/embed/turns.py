"""Turns at the device: one at a time, queries before batches."""

import contextlib
import threading
from collections.abc import Generator


class Turns:
    """Hands out turns; safe from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._queries = 0

    @contextlib.contextmanager
    def query(self) -> Generator[None]:
        """Turn that waits only for the one in hand and for queries before it."""
        with self._changed:
            self._queries += 1
            self._changed.wait_for(lambda: not self._taken)
            self._queries -= 1
            self._taken = True
        with self._given_back():
            yield

    @contextlib.contextmanager
    def batch(self) -> Generator[None]:
        """Turn that waits until no query does."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken and not self._queries)
            self._taken = True
        with self._given_back():
            yield

    @contextlib.contextmanager
    def within(self, timeout_seconds: float) -> Generator[bool]:
        """Turn for an owner who cannot wait: whether it was had in time (0: at once)."""
        with self._changed:
            had = self._changed.wait_for(lambda: not self._taken, timeout_seconds)
            self._taken = self._taken or had
        if not had:
            yield False
            return
        with self._given_back():
            yield True

    @contextlib.contextmanager
    def _given_back(self) -> Generator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()
