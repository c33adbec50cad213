"""Child processes: spawned, in a session of their own, spoken to over a Unix socket pair in capped frames.

A child leaves when its parent does: at end-of-file of the socket, and by the parent-death signal on Linux. A call
past its deadline kills the child's whole process group: nothing else stops native code.
"""

import contextlib
import ctypes
import json
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from ingestd import errors, failpoints

FRAME_BYTES = 512 * 1024 * 1024
"""Most bytes of one frame; a larger one is a fault of the other side."""
_HEAD = struct.Struct("<II")
_PR_SET_PDEATHSIG = 1
_LAST_MOMENT_SECONDS = 2.0

_Started = TypeVar("_Started")
_starts: "queue.SimpleQueue[Callable[[], None]] | None" = None
_starts_lock = threading.Lock()

Request = Mapping[str, Any]
Reply = tuple[dict[str, Any], bytes]
Answerer = Callable[[dict[str, Any], bytes], Reply]


class ChildDied(errors.IngestdError):
    """The child is gone; ``exit_status`` is negative for a signal, as in :mod:`subprocess`."""

    def __init__(self, name: str, exit_status: int | None) -> None:
        super().__init__(f"the {name} process died (exit status {exit_status})")
        self.exit_status = exit_status


class ChildTimeout(errors.IngestdError):
    """The child was over its deadline and was killed."""

    def __init__(self, name: str, timeout_seconds: float) -> None:
        super().__init__(f"the {name} process was over its deadline of {timeout_seconds:g} s and was killed")


class Child:
    """One running child process, owned by whoever made it.

    Calls are serialised: one frame out, one frame back. Safe from any thread.
    """

    def __init__(
        self,
        module: str,
        arguments: Mapping[str, Any],
        *,
        name: str,
        environment: Mapping[str, str] | None = None,
        nice: int = 0,
    ) -> None:
        """Start ``python -m module`` with the arguments (JSON values) as its only operand."""
        self.name = name
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._lock = threading.Lock()
        with theirs:
            self._process = _from_a_lasting_thread(
                partial(
                    subprocess.Popen,
                    [sys.executable, "-m", module, str(theirs.fileno()), json.dumps({**arguments, "nice": nice})],
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    stdin=subprocess.DEVNULL,
                    stdout=sys.stderr.fileno() if _has_descriptor(sys.stderr) else subprocess.DEVNULL,
                    env={**os.environ, **(environment or {})},
                )
            )

    @property
    def pid(self) -> int:
        """Process id, which is also its group's."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def call(self, request: Request, blob: bytes = b"", *, timeout_seconds: float | None = None) -> Reply:
        """Send a request and wait for its reply.

        Raises
        ------
        ChildTimeout
            Over the deadline; the process group was killed.
        ChildDied
            The process died before it replied.
        IngestdError
            Whatever error of the tree the child's answerer raised, of the same class.
        """
        with self._lock:
            try:
                self._socket.settimeout(timeout_seconds)
                deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
                send_frame(self._socket, request, blob)
                reply, data = receive_frame(self._socket, deadline=deadline)
            except TimeoutError as error:
                self.kill()
                raise ChildTimeout(self.name, timeout_seconds or 0) from error
            except (OSError, EOFError) as error:
                # The socket closes a moment before the process is gone: its own end is the one to report.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_LAST_MOMENT_SECONDS)
                self.kill()
                raise ChildDied(self.name, self._process.returncode) from error
        if "error" in reply:
            raise _error_from(reply["error"])
        return reply, data

    def kill(self) -> None:
        """SIGKILL to the whole group, and reap the child; its other processes can hold no lock after that."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        self._socket.close()

    def close(self, *, grace_seconds: float = 10.0) -> None:
        """Let the child finish at end-of-file, then kill what is left."""
        self._socket.close()
        try:
            self._process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self.kill()


def serve(answer_with: Callable[[dict[str, Any]], Answerer]) -> None:
    """Run the child's side: ``sys.argv`` holds the socket's descriptor and the arguments.

    Parameters
    ----------
    answer_with
        Takes the arguments, makes whatever the child owns, returns the function that answers each request. An error
        of our tree that it raises is sent back; anything else ends the process with its traceback.
    """
    # Before anything else: whatever is loaded later must not outlive the parent.
    leave_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    failpoints.arm(os.environ.get(failpoints.VARIABLE, ""), os.environ.get(failpoints.TRACE_VARIABLE, ""))
    arguments = json.loads(sys.argv[2])
    if arguments.get("nice"):
        os.nice(arguments["nice"])
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        answer = _ready(answer_with, arguments)
        while True:
            try:
                request, blob = receive_frame(channel)
            except (EOFError, ConnectionError):
                return
            try:
                reply, data = answer(request, blob)
            except errors.IngestdError as error:
                reply, data = {"error": error_as_json(error)}, b""
            try:
                send_frame(channel, reply, data)
            except ConnectionError:
                return


def leave_with_parent() -> None:
    """Have the kernel end this process when its parent dies (Linux; elsewhere end-of-file does it)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == 1:
            sys.exit(0)


def send_frame(channel: socket.socket, value: Request, blob: bytes = b"") -> None:
    """Write one frame: JSON values and bytes."""
    head = json.dumps(value, separators=(",", ":")).encode("utf-8")
    channel.sendall(_HEAD.pack(len(head), len(blob)) + head)
    if blob:
        channel.sendall(blob)


def receive_frame(channel: socket.socket, *, deadline: float | None = None, limit_bytes: int = FRAME_BYTES) -> Reply:
    """Read one frame.

    Raises
    ------
    EOFError
        The other side is gone.
    TimeoutError
        ``deadline`` (on :func:`time.monotonic`) has passed.
    ValueError
        The frame is over the cap or is no JSON object: a fault of the other side.
    """
    head_bytes, blob_bytes = _HEAD.unpack(_receive(channel, _HEAD.size, deadline))
    if head_bytes + blob_bytes > limit_bytes:
        raise ValueError(f"a frame of {head_bytes + blob_bytes} bytes is over the cap of {limit_bytes}")
    value: dict[str, Any] | list[Any] | None = json.loads(_receive(channel, head_bytes, deadline))
    if not isinstance(value, dict):
        raise ValueError(f"a frame holds a {type(value).__name__}, not an object")  # noqa: TRY004  the other side's fault
    return value, _receive(channel, blob_bytes, deadline)


def error_as_json(error: errors.IngestdError) -> dict[str, Any]:
    """Class name and message of an error of our tree, for a frame."""
    return {"type": type(error).__name__, "message": str(error), "delay": getattr(error, "delay_seconds", None)}


def error_from_json(value: Mapping[str, Any]) -> errors.IngestdError:
    """Error of our tree from what :func:`error_as_json` gave; an unknown class becomes the tree's root."""
    return _error_from(value)


def _from_a_lasting_thread(start: Callable[[], _Started]) -> _Started:
    # The parent-death signal fires when the thread that started a child ends, not only its process (prctl(2);
    # measured 2026-11-30: a child started from a worker thread died with that thread).
    global _starts
    with _starts_lock:
        if _starts is None:
            _starts = queue.SimpleQueue()
            threading.Thread(target=_start_children, args=(_starts,), name="children", daemon=True).start()
    started: Future[_Started] = Future()
    _starts.put(partial(_start, start, started))
    return started.result()


def _start_children(starts: "queue.SimpleQueue[Callable[[], None]]") -> None:
    while True:
        starts.get()()


def _start(start: Callable[[], _Started], started: "Future[_Started]") -> None:
    try:
        started.set_result(start())
    except BaseException as error:  # noqa: BLE001  # it is raised again, in the thread that asked
        started.set_exception(error)


def _ready(answer_with: Callable[[dict[str, Any]], Answerer], arguments: dict[str, Any]) -> Answerer:
    try:
        return answer_with(arguments)
    except errors.IngestdError as error:
        failure = error_as_json(error)
        return lambda _request, _blob: ({"error": failure}, b"")


def _error_from(value: Mapping[str, Any]) -> errors.IngestdError:
    kind: object = getattr(errors, str(value.get("type")), None)
    message = str(value.get("message"))
    if not isinstance(kind, type) or not issubclass(kind, errors.IngestdError):
        return errors.IngestdError(message)
    if issubclass(kind, errors.TransientError):
        return kind(message, delay_seconds=value.get("delay"))
    return kind(message)


def _receive(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            channel.settimeout(left)
        piece = channel.recv(min(size - len(received), 1 << 20))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)


def _has_descriptor(stream: Any) -> bool:
    try:
        return stream is not None and stream.fileno() >= 0
    except (OSError, ValueError):
        return False
