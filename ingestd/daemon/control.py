"""Owner's side of the control socket: answers the commands that ask it to act."""

import os
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestd import __version__, errors
from ingestd.children import error_as_json, receive_frame, send_frame
from ingestd.daemon.ask import PROTOCOL, REQUEST_BYTES, OwnerAbsent, Values, ask, of_another_version
from ingestd.daemon.rendezvous import bound, socket_path
from ingestd.logs import Log

__all__ = ["Answer", "ControlServer", "OwnerAbsent", "ask", "socket_path"]

CONNECTIONS = 16
REQUEST_SECONDS = 5.0
"""A client sends its request at once or is no client of ours."""
_SEND_SECONDS = 30.0
"""A client that stopped reading (suspended, stuck terminal) gives its place back after this."""

Answer = Callable[[str, Values], Values | Generator[Values, None, Values]]
"""Takes the command and its arguments. It runs in a thread of its own beside others. A generator's values are sent
as progress, its return value is the reply; it is closed when the client leaves."""

_BUSY = "the owner of the state is busy with commands: ask again"
_CREDENTIALS = struct.Struct("3i")
_log = Log(__name__)


class ControlServer:
    """Listens from its making to :meth:`close`; owns the socket file, one accepting thread, one thread a connection.

    Parameters
    ----------
    path
        What :func:`~ingestd.daemon.rendezvous.socket_path` gives. The caller holds the state's lock, so a socket file
        that is already there belongs to a dead owner.
    answer
        See :data:`Answer`.
    mode
        Permissions of the socket file; whatever they are, only the same user and root are answered.

    Raises
    ------
    StateLocked
        Somebody listens there.
    StateUnusable
        The socket cannot be made.
    """

    def __init__(self, path: Path, answer: Answer, *, mode: int = 0o600) -> None:
        self.path = path
        self._answer = answer
        self._closing = threading.Event()
        self._cutting_off = threading.Event()
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._waker, self._woken = socket.socketpair()
        try:
            self._listener = bound(path, mode)
        except BaseException:
            self._waker.close()
            self._woken.close()
            raise
        self._listener.setblocking(False)  # noqa: FBT003  positional in the standard library
        self._inode = os.lstat(path).st_ino
        self._thread = threading.Thread(target=self._accept, name="ingestd-control", daemon=True)
        self._thread.start()

    def close(self, *, grace_seconds: float = 5.0) -> None:
        """Stop listening, let running answers end, then cut off what is left after the grace."""
        if self._closing.is_set():
            return
        self._closing.set()
        with suppress(FileNotFoundError):
            if os.lstat(self.path).st_ino == self._inode:
                self.path.unlink()
        self._waker.close()
        self._thread.join(1.0)
        self._listener.close()
        self._woken.close()
        if not self._join(grace_seconds):
            self._cut_off()
            if not self._join(1.0):
                _log.warning("control.answers_left", connections=len(self._connections))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as either:
            either.register(self._listener, selectors.EVENT_READ)
            either.register(self._woken, selectors.EVENT_READ)
            while not self._closing.is_set():
                either.select()
                self._accept_one()

    def _accept_one(self) -> None:
        try:
            channel, _ = self._listener.accept()
        except BlockingIOError:
            return  # The client has left already, or it was the waker.
        except OSError:
            # Out of descriptors: the wait keeps the thread from spinning, and alive.
            self._closing.wait(0.1)
        else:
            channel.setblocking(True)  # noqa: FBT003  positional in the standard library
            if not self._took(channel):
                with suppress(_ClientLeft), channel:
                    _send_error(channel, errors.TransientError(_BUSY, delay_seconds=1.0))

    def _took(self, channel: socket.socket) -> bool:
        thread = threading.Thread(target=self._serve, args=(channel,), name="ingestd-control-answer", daemon=True)
        with self._lock:
            if len(self._connections) >= CONNECTIONS:
                return False
            self._connections[channel] = thread
            try:
                thread.start()
            except RuntimeError:  # The system gives no more threads.
                del self._connections[channel]
                return False
        return True

    def _serve(self, channel: socket.socket) -> None:
        try:
            with channel:
                self._answer_on(channel)
        except _ClientLeft:
            _log.debug("control.client_left")
        finally:
            with self._lock:
                self._connections.pop(channel, None)

    def _answer_on(self, channel: socket.socket) -> None:
        command = ""
        try:
            command, arguments = _request(channel)
            _send(channel, {"reply": _final(channel, self._answer(command, arguments))})
        except errors.IngestdError as error:
            _send_error(channel, error)
        except _ClientLeft:
            raise
        except Exception as error:  # A bug in one command must not take the owner down.
            if self._cutting_off.is_set():
                # The state was closed under it, and nobody hears of it: the command asks again, elsewhere.
                raise _ClientLeft from error
            _log.exception("control.command_failed", command=command)
            failure = (
                f"the owner of the state failed on {command!r} with {type(error).__name__}: its log has the traceback"
            )
            _send_error(channel, errors.IngestdError(failure))

    def _join(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        with self._lock:
            threads = tuple(self._connections.values())
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _cut_off(self) -> None:
        self._cutting_off.set()
        with self._lock:
            for channel in self._connections:
                with suppress(OSError):
                    channel.shutdown(socket.SHUT_RDWR)


class _ClientLeft(Exception):
    """The other side does not read or write any more."""


def _request(channel: socket.socket) -> tuple[str, Values]:
    if not _trusted(channel):
        raise errors.ConfigurationError(
            "the owner of the state answers its own user and root alone: run the command as one of them"
        )
    try:
        request, _ = receive_frame(channel, deadline=time.monotonic() + REQUEST_SECONDS, limit_bytes=REQUEST_BYTES)
    except (OSError, EOFError) as error:
        raise _ClientLeft from error
    except (ValueError, RecursionError) as error:
        raise errors.ConfigurationError(f"the owner of the state cannot read the request: {error}") from error
    if request.get("protocol") != PROTOCOL:
        raise of_another_version("the command", request, "the owner of the state")
    command, arguments = request.get("command"), request.get("arguments")
    if not isinstance(command, str) or not isinstance(arguments, dict):
        raise errors.ConfigurationError("a request holds a command and its arguments")
    return command, dict(arguments)  # pyright: ignore[reportUnknownArgumentType]  JSON


def _trusted(channel: socket.socket) -> bool:
    if sys.platform != "linux":
        return True  # The socket file's permissions say it.
    credentials = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _pid, uid, _gid = _CREDENTIALS.unpack(credentials)
    return uid in {0, os.geteuid()}


def _final(channel: socket.socket, answer: Values | Generator[Values, None, Values]) -> Values:
    if isinstance(answer, dict):
        return answer
    try:
        while True:
            _send(channel, {"progress": next(answer)})
    except StopIteration as ended:
        return dict(ended.value)
    finally:
        answer.close()


def _send_error(channel: socket.socket, error: errors.IngestdError) -> None:
    _send(channel, {"error": error_as_json(error)})


def _send(channel: socket.socket, fields: Values) -> None:
    channel.settimeout(_SEND_SECONDS)
    try:
        send_frame(channel, {"protocol": PROTOCOL, "version": __version__, **fields})
    except OSError as error:
        raise _ClientLeft from error
