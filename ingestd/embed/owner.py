"""The owner of one device: started when first needed, restarted once when it dies, let go of when idle."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from numpy.typing import NDArray

from ingestd.children import ChildDied, ChildTimeout
from ingestd.embed.device import Device
from ingestd.embed.turns import Turns
from ingestd.errors import EmbedderUnavailable
from ingestd.logs import Log

_RETRY_SECONDS = 10.0
CLOSE_SECONDS = 5.0
"""How long a batch in hand may take to finish when all is closed: it is meant to last 0.25 s."""
_LOG = Log(__name__)
_Answer = TypeVar("_Answer")


class DeviceOwner:
    """One device, used by one caller at a time, queries before batches; safe from any thread.

    Parameters
    ----------
    start
        Makes a loaded device; called again when the last one died or was let go of.
    idle_seconds
        After so long without use :meth:`unload_if_idle` lets go of the device; 0: never.
    clock
        Seconds, rising.
    """

    def __init__(
        self, start: Callable[[], Device], *, idle_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._start = start
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._turns = Turns()
        self._closed = threading.Event()
        self._device: Device | None = None
        self._last_used = clock()

    @property
    def device(self) -> Device | None:
        """What is running now."""
        return self._device

    def embed(self, texts: Sequence[str]) -> tuple[NDArray[Any], float]:
        """Vectors of one batch, unchecked, and the seconds that they took, without waiting and loading.

        Raises
        ------
        MemoryError
            When the device is too small for the batch.
        EmbedderUnavailable
            When it died twice over this batch, or was closed.
        """
        with self._turns.batch():
            return self._answer(lambda device: self._timed(device, texts))

    def query(self, text: str) -> NDArray[Any]:
        """Vector of one query, unchecked; raises as :meth:`embed` does."""
        with self._turns.query():
            return self._answer(lambda device: device.query(text))

    def unload_if_idle(self, now: float) -> bool:
        """Let go of a device that was idle long enough at ``now`` (on the clock); say whether it was."""
        with self._turns.within(0) as had:
            is_idle = self._idle_seconds > 0 and now - self._last_used >= self._idle_seconds
            if not had or self._device is None or not is_idle:
                return False
            device, self._device = self._device, None
            device.close()
        _LOG.info("embedder.unloaded", idle_seconds=round(now - self._last_used, 1))
        return True

    def close(self, grace_seconds: float) -> None:
        """End the device for good; a batch in hand has so long to finish, then it fails as unavailable."""
        self._closed.set()
        with self._turns.within(grace_seconds) as had:
            device, self._device = self._device, None
            if device is not None and had:
                device.close()
            elif device is not None:
                device.kill()

    def _answer(self, ask: Callable[[Device], _Answer]) -> _Answer:
        try:
            try:
                return ask(self._started())
            except (ChildDied, ChildTimeout) as death:
                self._bury(death)
                return ask(self._started())
        except (ChildDied, ChildTimeout) as death:
            self._bury(death)
            raise EmbedderUnavailable(f"{death}, twice over the same texts", delay_seconds=_RETRY_SECONDS) from death
        finally:
            self._last_used = self._clock()

    def _started(self) -> Device:
        if self._closed.is_set():
            raise EmbedderUnavailable("the embedder is closed: this process is about to end")
        if self._device is None:
            self._device = self._start()
            _LOG.info("embedder.started", device=self._device.name, pid=self._device.pid)
        return self._device

    def _bury(self, death: ChildDied | ChildTimeout) -> None:
        device, self._device = self._device, None
        if device is not None:
            device.kill()
        _LOG.warning("embedder.died", reason=str(death))

    def _timed(self, device: Device, texts: Sequence[str]) -> tuple[NDArray[Any], float]:
        began = self._clock()
        rows = device.embed(texts)
        return rows, self._clock() - began
