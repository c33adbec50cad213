"""The daemon: hints, scans, requests and work, one after the other in one thread."""

import json
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack
from functools import partial
from random import random
from typing import Any

from ingestd.daemon import answer
from ingestd.daemon.control import ControlServer
from ingestd.daemon.notify import Notifier, Pinger, Watchdog
from ingestd.daemon.owner import Owner
from ingestd.daemon.passes import Hooks
from ingestd.daemon.rendezvous import socket_path
from ingestd.daemon.requests import Request, Requests, Values
from ingestd.daemon.schedule import Schedule, parse_rescan
from ingestd.daemon.signals import Signals
from ingestd.daemon.watching import Watches
from ingestd.discover.settle import Settling
from ingestd.errors import TransientError
from ingestd.logs import Log
from ingestd.pipeline.backoff import delay_seconds
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.reindex import free_quarantined
from ingestd.pipeline.scan import scan_root
from ingestd.pipeline.staleness import count_stale
from ingestd.pipeline.sync import work
from ingestd.pipeline.tally import Tally

HINT_SECONDS = 0.3
"""Hints are taken this often at most: a burst of events becomes one scan."""
SUPERVISE_SECONDS = 1.0
POLL_SECONDS = 120.0
"""Roots without events are scanned this often."""
LONGEST_WAIT_SECONDS = 5.0
_LOOP = "loop"
_LOOP_SECONDS = 300.0
"""Longest that one step of the loop may take: the deadline of a conversion is watched elsewhere."""

_log = Log(__name__)


class Loop:
    """One daemon over an owned state, in the main thread."""

    def __init__(self, owner: Owner, signals: Signals, notifier: Notifier, wake: threading.Event) -> None:
        self._owner = owner
        self._signals = signals
        self._notifier = notifier
        self._wake = wake
        self._daemon = answer.daemon_fields()
        self._tally = Tally()
        self._settling = Settling[int](owner.settings.daemon.settle_seconds)
        self._requests = Requests(wake.set, self._progress)
        self._watches = Watches(wake)
        self._watchdog = Watchdog()
        self._scan_due = threading.Event()
        self._failures = 0
        self._next: dict[str, float] = {"supervise": 0.0, "poll": 0.0, "hints": 0.0, "work": 0.0}
        self._parts: Parts

    def run(self, watchdog_interval: float | None) -> None:
        """Work until told to stop."""
        with ExitStack() as exits:
            self._register()
            exits.callback(self._watches.stop)
            rescan = parse_rescan(self._owner.settings.daemon.rescan)
            exits.enter_context(Schedule(rescan, self._rescan))
            exits.enter_context(ControlServer(socket_path(self._owner.places.directory), self._answer))
            # Before the server closes: whoever waits is told, not cut off.
            exits.callback(self._requests.close)
            self._watchdog.register(_LOOP, _LOOP_SECONDS)
            exits.enter_context(Pinger(self._notifier, self._watchdog, watchdog_interval))
            free_quarantined(self._parts)
            count_stale(self._parts, list(self._parts.roots))
            self._scan_due.set()
            self._notifier.ready("scanning")
            _log.info("daemon.ready", roots=len(self._parts.roots))
            while not self._signals.stop.is_set():
                self._once()
            _log.info("daemon.stopping", reason=self._signals.stop.reason)
            self._notifier.stopping(self._signals.stop.reason)

    def _once(self) -> None:
        self._watchdog.beat(_LOOP)
        self._wake.clear()
        self._answer_requests(passes=True)
        self._supervise()
        self._scan()
        wait = self._work()
        self._tally.forget_touched()
        self._notifier.status(self._status_line())
        if not self._signals.stop.is_set():
            self._wake.wait(min(wait, LONGEST_WAIT_SECONDS))

    def _scan(self) -> None:
        try:
            if self._scan_due.is_set():
                self._scan_due.clear()
                for id_ in self._parts.roots:
                    self._scan_one(id_)
            elif self._is_due("poll", POLL_SECONDS):
                for id_ in self._parts.roots.keys() - self._watched():
                    self._scan_one(id_)
            if self._is_due("hints", HINT_SECONDS):
                for id_, hints in self._watches.take().items():
                    if hints.deep:
                        self._scan_one(id_, hints.deep, deep=True)
                    if hints.shallow:
                        self._scan_one(id_, hints.shallow, deep=False)
        except TransientError as error:
            # What was to be scanned is not remembered: all of it is.
            self._scan_due.set()
            self._put_off(error)

    def _scan_one(self, id_: int, directories: frozenset[bytes] | None = None, *, deep: bool = True) -> None:
        if id_ in self._parts.roots and not self._signals.stop.is_set():
            scan_root(
                self._parts,
                self._parts.roots[id_],
                self._tally,
                directories=directories,
                deep=deep,
                covered=lambda directory: self._watches.cover(id_, directory),
            )

    def _work(self) -> float:
        """Do what is due; gives the seconds until something may be due again."""
        if time.monotonic() < self._next["work"]:
            return self._next["work"] - time.monotonic()
        try:
            wait = work(self._parts, self._tally, self._settling)
        except TransientError as error:
            self._put_off(error)
            return 1.0
        self._failures = 0
        return LONGEST_WAIT_SECONDS if wait.seconds is None else max(wait.seconds, 0.05)

    def _put_off(self, error: TransientError) -> None:
        self._failures += 1
        seconds = error.delay_seconds or min(delay_seconds(self._failures, random), 60.0)
        _log.warning("work.put_off", reason=str(error), seconds=round(seconds, 1))
        self._next["work"] = time.monotonic() + seconds

    def _register(self) -> None:
        registered = self._owner.register()
        self._parts = self._owner.parts(registered, stop=self._signals.stop, between=self._between)
        polls = {id_: root.poll for id_, (_, root) in registered.roots.items()}
        if self._watches.follow(self._parts.roots, polls):
            self._scan_due.set()

    def _watched(self) -> set[int]:
        return set(self._watches.documents()) - self._watches.deaf()

    def _between(self) -> None:
        """In the middle of long work: what came meanwhile is found, so that it need not wait for the end."""
        self._watchdog.beat(_LOOP)
        self._answer_requests(passes=False)
        self._supervise()
        self._scan()

    def _supervise(self) -> None:
        if self._is_due("supervise", SUPERVISE_SECONDS):
            self._watches.supervise(self._parts.roots)
            for embedding in self._owner.wiring.embeddings.values():
                embedding.unload_if_idle(time.monotonic())

    def _answer_requests(self, *, passes: bool) -> None:
        """Answer what waits; passes only when no other work is in hand."""
        postponed: list[Request] = []
        while (request := self._requests.take()) is not None:
            if request.command in answer.LONG and not passes:
                postponed.append(request)
                continue
            request.carry_out(partial(self._done, request))
        for request in postponed:
            self._requests.put_back(request)

    def _done(self, request: Request) -> Values:
        if request.command in answer.LONG:
            try:
                return answer.work(self._owner, request.command, request.arguments, Hooks(between=self._between))
            finally:
                self._register()
        reply = answer.change(self._parts, request.command, request.arguments)
        if request.command == "confirm" and reply["confirmed"]:
            self._look_at_confirmed(reply["confirmed"])
        if reply.get("dropped"):
            self._register()
        return reply

    def _look_at_confirmed(self, confirmed: list[Values]) -> None:
        """Find what is there after all, before the removals that were let go are carried out."""
        self._register()
        names = {one["root"] for one in confirmed}
        for id_, plan in self._parts.roots.items():
            if plan.name in names:
                self._scan_one(id_)

    def _answer(self, command: str, arguments: Values) -> Values | Generator[Values, None, Values]:
        daemon = {**self._daemon, "watch": self._watch_documents(), "devices": self._devices()}
        return answer.answer(self._owner, self._parts, self._requests, daemon, command, arguments)

    def _watch_documents(self) -> dict[str, Any]:
        found = self._watches.documents()
        return {plan.name: found[id_] for id_, plan in self._parts.roots.items() if id_ in found}

    def _devices(self) -> list[dict[str, Any]]:
        return [
            {"embedder": json.loads(configuration)["name"], "device": embedding.device}
            for configuration, embedding in self._owner.wiring.embeddings.items()
        ]

    def _progress(self) -> Values:
        return {"stage": "documents", "done": self._tally.counts["documents"], "total": None}

    def _status_line(self) -> str:
        counts = self._tally.counts
        return f"{counts['documents']} documents, {counts['chunks']} chunks, {counts['embedded']} embedded since start"

    def _rescan(self, _why: str) -> None:
        self._scan_due.set()
        self._wake.set()

    def _is_due(self, what: str, seconds: float) -> bool:
        now = time.monotonic()
        if now < self._next[what]:
            return False
        self._next[what] = now + seconds
        return True
