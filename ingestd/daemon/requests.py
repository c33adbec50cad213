"""What the control socket asks of the loop, one after the other."""

import queue
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any

from ingestd.errors import IngestdError, TransientError
from ingestd.logs import Log

_PROGRESS_SECONDS = 1.0

Values = dict[str, Any]

_log = Log(__name__)


def _stopping() -> IngestdError:
    return TransientError("the daemon stops, and what was asked was not begun: ask again once it is started")


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and where its reply goes."""

    command: str
    arguments: Values
    reply: Future[Values] = field(default_factory=Future[Values])

    def carry_out(self, act: Callable[[], Values]) -> None:
        """Reply with what ``act`` gives, or with the error that it ends with; whoever carries it out goes on."""
        try:
            reply = act()
        except IngestdError as error:
            self.reply.set_exception(error)
        except Exception as error:  # noqa: BLE001  one request: a bug in it must not end the others
            _log.exception("request.bug", command=self.command)
            self.reply.set_exception(IngestdError(f"{self.command} failed by a bug: {error!r}; see the log"))
        else:
            self.reply.set_result(reply)


class Requests:
    """A queue between the control socket's threads and the loop.

    Parameters
    ----------
    wake
        Called after a request was put in.
    progress
        What to tell those who wait.
    refused
        What a request that was not begun ends with, once no more are taken.
    """

    def __init__(
        self,
        wake: Callable[[], None],
        progress: Callable[[], Values],
        refused: Callable[[], IngestdError] = _stopping,
    ) -> None:
        self._queue: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._wake = wake
        self._progress = progress
        self._refused = refused
        self._closed = False

    def ask(self, command: str, arguments: Values) -> Generator[Values, None, Values]:
        """Put the request in and wait for its reply, telling of progress meanwhile."""
        if self._closed:
            raise self._refused()
        request = Request(command, arguments)
        self._queue.put(request)
        if self._closed:
            # Closed between the two lines above: nobody takes it any more.
            self.close()
        self._wake()
        while True:
            try:
                return request.reply.result(_PROGRESS_SECONDS)
            except FutureTimeout:
                yield self._progress()
            except CancelledError as error:
                raise self._refused() from error

    def take(self) -> Request | None:
        """Oldest request that waits."""
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            return None

    def put_back(self, request: Request) -> None:
        """Let a request wait for a better moment."""
        self._queue.put(request)

    def refuse(self) -> None:
        """Refuse new requests; those that wait can still be taken."""
        self._closed = True

    def close(self) -> None:
        """Refuse new requests; cancel those that wait."""
        self._closed = True
        while (request := self.take()) is not None:
            request.reply.cancel()
