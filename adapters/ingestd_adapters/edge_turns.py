"""Who goes next at the store's process: a search before the writes that wait."""

import threading
from collections.abc import Generator
from contextlib import contextmanager


class Turns:
    """One caller at a time; safe from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._urgent = 0

    @contextmanager
    def turn(self, *, urgent: bool = False) -> Generator[None]:
        """Wait for a turn; an urgent one goes before all that are not."""
        with self._changed:
            self._urgent += urgent
            self._changed.wait_for(lambda: not self._busy and (urgent or not self._urgent))
            self._urgent -= urgent
            self._busy = True
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
