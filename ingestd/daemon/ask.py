"""Commands' side of the control socket: asks the state's owner to act.

One request a connection, in the frames of :mod:`ingestd.children`. The fields ``protocol``, ``version`` and ``error``
(``type``, ``message``) keep their meaning for ever, so that an older or newer peer can be told so. Nothing here is
slow to import: one-shot commands begin with it.
"""

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingestd import __version__, errors
from ingestd.children import error_from_json, receive_frame, send_frame
from ingestd.daemon.rendezvous import connected

PROTOCOL = 1
"""Raised when a request or a reply changes its meaning; ingestd of another number is refused on both sides."""
REQUEST_BYTES = 64 * 1024

READ = ("status", "search", "show", "verify")
"""Commands that change nothing: what an owner that died did not answer can be asked again."""

Values = dict[str, Any]
"""A JSON object."""


class OwnerAbsent(errors.IngestdError):
    """Nobody answers on the control socket.

    Parameters
    ----------
    asked
        True when the request had been sent and the owner left before it replied: the work may be half done.
    """

    def __init__(self, message: str, *, asked: bool) -> None:
        super().__init__(message)
        self.asked = asked


def ask(
    path: Path,
    command: str,
    arguments: Values,
    *,
    timeout_seconds: float | None,
    progress: Callable[[Values], None] | None = None,
) -> Values:
    """Ask the owner of the state to act, and wait for its reply.

    Parameters
    ----------
    path
        What :func:`~ingestd.daemon.rendezvous.socket_path` gives for the state directory.
    timeout_seconds
        Most seconds until the final reply; ``None`` waits as long as the owner lives.
    progress
        Called with each progress value, in this thread.

    Raises
    ------
    OwnerAbsent
        Nobody listens, or the owner left before it replied.
    ConfigurationError
        The owner is an older or newer ingestd, or the request is over the cap.
    TransientError
        The owner is busy, or did not reply in time.
    IngestdError
        Whatever error of the tree the command ended with, of the same class.
    """
    deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    request = {"protocol": PROTOCOL, "version": __version__, "command": command, "arguments": arguments}
    if len(json.dumps(request)) > REQUEST_BYTES:
        raise errors.ConfigurationError(f"the request {command!r} is over {REQUEST_BYTES} bytes: ask for less at once")
    try:
        channel = connected(path, timeout_seconds)
    except (FileNotFoundError, ConnectionError) as error:
        raise OwnerAbsent(f"nobody listens on {path}", asked=False) from error
    except OSError as error:
        raise errors.TransientError(f"the control socket {path} cannot be reached: {error}") from error
    with channel:
        try:
            # A refusal may come before the request was read: then it waits for us behind a broken pipe.
            with suppress(BrokenPipeError, ConnectionResetError):
                send_frame(channel, request)
            return _reply(channel, deadline, progress)
        except TimeoutError as error:
            raise errors.TransientError(
                f"the owner of the state did not reply to {command!r} in {timeout_seconds:g} s"
            ) from error
        except (EOFError, OSError) as error:
            raise OwnerAbsent(f"the owner of the state left before it replied to {command!r}", asked=True) from error


def _reply(channel: socket.socket, deadline: float | None, progress: Callable[[Values], None] | None) -> Values:
    while True:
        if deadline is None:
            channel.settimeout(None)
        frame, _ = receive_frame(channel, deadline=deadline)
        if frame.get("protocol") != PROTOCOL:
            raise of_another_version("the owner of the state", frame, "this command")
        if "error" in frame:
            raise error_from_json(frame["error"])
        if "reply" in frame:
            return dict(frame["reply"])
        if progress is not None:
            progress(dict(frame.get("progress", {})))


def of_another_version(peer: str, frame: Values, ours: str) -> errors.ConfigurationError:
    """Error that tells a peer of another protocol so; ``peer`` and ``ours`` are nouns for people."""
    return errors.ConfigurationError(
        f"{peer} is ingestd {frame.get('version', 'unknown')} with control protocol {frame.get('protocol', 'unknown')}, "
        f"{ours} is ingestd {__version__} with protocol {PROTOCOL}: restart the daemon, or wait for the "
        "command that works on the state, and then use one version"
    )
