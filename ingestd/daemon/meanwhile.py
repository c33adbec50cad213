"""Answers other commands while a command that ends owns the state."""

import os
import threading
from collections.abc import Generator
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Self

from ingestd.daemon import answer
from ingestd.daemon.ask import READ
from ingestd.daemon.control import ControlServer
from ingestd.daemon.lock import refusal
from ingestd.daemon.owner import Owner
from ingestd.daemon.rendezvous import socket_path
from ingestd.daemon.requests import Request, Requests, Values
from ingestd.errors import IngestdError, StateLocked, StateUnusable
from ingestd.logs import Log
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.scan import scan_root
from ingestd.pipeline.tally import Tally

DONE_SECONDS = 60.0
"""So long an owner whose work is done stays for answers under way; a command cut off then reads for itself."""
STOPPED_SECONDS = 5.0
"""The same for one that was told to stop."""

_log = Log(__name__)


class Meanwhile:
    """Serves the control socket from :meth:`begin` to the end of the context; the thread's that works on the state.

    Questions are answered at once. Small changes wait for :meth:`between`, or for the end. A pass asked for is
    refused, as is everything at the end: the command that asks waits for its turn, then does it itself, under its own
    settings, and a stop of this owner does not stop it.

    Parameters
    ----------
    command
        What the state is owned for. Only a pass comes to a moment between, so only it takes changes.
    stop
        Once it is set, answers under way are not waited for long.
    """

    def __init__(self, owner: Owner, command: str, stop: threading.Event) -> None:
        self._owner = owner
        self._command = command
        self._stop = stop
        self._since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._requests = Requests(_nothing, self._progress, self._refused)
        self._server: ControlServer | None = None
        self._parts: Parts

    def begin(self, parts: Parts) -> None:
        """Serve from now on; a file system without sockets is no reason not to work.

        Raises
        ------
        StateLocked
            When somebody who does not own the state serves its socket.
        """
        self._parts = parts
        try:
            self._server = ControlServer(socket_path(self._owner.places.directory), self._answer)
        except StateUnusable as error:
            _log.warning("control.not_served", reason=str(error))

    def between(self) -> None:
        """Carry out the changes that were asked for; nothing may be half done."""
        while (request := self._requests.take()) is not None:
            request.carry_out(partial(self._changed, request))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._requests.refuse()
            self.between()
            self._server.close(grace_seconds=STOPPED_SECONDS if self._stop.is_set() else DONE_SECONDS)

    def _answer(self, command: str, arguments: Values) -> Values | Generator[Values, None, Values]:
        if command in READ:
            return answer.read(self._owner, self._parts, command, arguments, self._who())
        if command == "confirm" and arguments["list"]:
            return answer.change(self._parts, command, arguments)
        if command in answer.QUICK and self._command in answer.LONG:
            return self._requests.ask(command, arguments)
        raise self._refused()

    def _changed(self, request: Request) -> Values:
        reply = answer.change(self._parts, request.command, request.arguments)
        if request.command == "confirm":
            self._look_at({str(one["root"]) for one in reply["confirmed"]})
        return reply

    def _look_at(self, roots: set[str]) -> None:
        """Find what is there after all, before the removals that were let go are carried out."""
        for plan in self._parts.roots.values():
            if plan.name in roots:
                scan_root(self._parts, plan, Tally())

    def _refused(self) -> IngestdError:
        return StateLocked(refusal(self._owner.places.directory, "it takes no other command of this kind"))

    def _who(self) -> Values:
        working = {"pid": os.getpid(), "since": self._since, "command": self._command}
        return {"running": False, "pid": None, "since": None, "working": working}

    def _progress(self) -> Values:
        return {"stage": "waiting", "done": 0, "total": None}


def _nothing() -> None:
    return
