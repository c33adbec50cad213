"""Has the owner of the state act: the process that owns it now, or this one for a moment."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ingestd.cli.invocation import Invocation
from ingestd.daemon.ask import READ, OwnerAbsent, ask
from ingestd.daemon.rendezvous import socket_path
from ingestd.errors import StateLocked
from ingestd.logs import Log

if TYPE_CHECKING:
    from ingestd.daemon.owner import Ownership

Values = dict[str, Any]

LOCK_SECONDS = 5.0
"""How long a command waits for an owner that does not answer."""
_TURN_SECONDS = 0.5
"""Between two tries to be answered, while the lock is waited for."""
_log = Log(__name__)


def acted(
    invocation: Invocation,
    command: str,
    arguments: Values,
    *,
    timeout_seconds: float | None = 60.0,
    progress: Callable[[Values], None] = lambda _event: None,
) -> Values:
    """Document of a command, carried out by the owner of the state where one answers, else here.

    An owner that ends by itself refuses what would hold it up: then this process waits for its turn, as long as it
    would wait for a reply.

    Raises
    ------
    StateLocked
        When another process owns the state and does not answer, or refuses for too long.
    IngestdError
        Whatever the command ended with.
    """

    @cache
    def ownership() -> "Ownership":
        return _ownership(invocation, command)

    return _in_turn(
        invocation,
        lambda: asked_owner(invocation, command, arguments, timeout_seconds=timeout_seconds, progress=progress),
        lambda wait_seconds: _acted_here(replace(ownership(), wait_seconds=wait_seconds), command, arguments, progress),
        timeout_seconds,
    )


def searched(invocation: Invocation, arguments: Values, *, timeout_seconds: float) -> Values:
    """The ``search`` document, from the owner of the state where one answers, else from files opened for a moment."""
    return _in_turn(
        invocation,
        lambda: asked_owner(invocation, "search", arguments, timeout_seconds=timeout_seconds),
        lambda wait_seconds: _searched_here(invocation, arguments, wait_seconds),
        timeout_seconds,
    )


def asked_owner(
    invocation: Invocation,
    command: str,
    arguments: Values,
    *,
    timeout_seconds: float | None,
    progress: Callable[[Values], None] | None = None,
) -> Values | None:
    """Reply of the owner of the state; ``None`` where none answers."""
    path = socket_path(invocation.state_dir)
    try:
        return ask(path, command, arguments, timeout_seconds=timeout_seconds, progress=progress)
    except OwnerAbsent as error:
        if error.asked and command not in READ:
            raise
        return None


def _in_turn(
    invocation: Invocation,
    asked: Callable[[], Values | None],
    here: Callable[[float], Values],
    timeout_seconds: float | None,
) -> Values:
    """Ask and try to own the state by turns: an owner answers a moment after it took the lock."""
    began = heard = time.monotonic()
    refused = False
    while True:
        try:
            answered = asked()
        except StateLocked as error:
            heard = time.monotonic()
            if not refused:
                _log.warning("state.waiting", reason=str(error))
            refused = True
        else:
            if answered is not None:
                return answered
        try:
            return here(_TURN_SECONDS)
        except StateLocked as error:
            now = time.monotonic()
            if timeout_seconds is None and _ends_by_itself(invocation):
                # It may take a while to answer on a busy machine, and is sure to leave.
                heard = now
            overdue = timeout_seconds is not None and now - began >= max(timeout_seconds, LOCK_SECONDS)
            if overdue or now - heard >= LOCK_SECONDS:
                raise StateLocked(_still_locked(invocation, now - began)) from error


def _ends_by_itself(invocation: Invocation) -> bool:
    """Whether the state is owned by a command other than the daemon."""
    from ingestd.daemon.lock import read_holder

    holder = read_holder(invocation.state_dir)
    return holder is not None and holder.command not in ("", "run")


def _still_locked(invocation: Invocation, waited_seconds: float) -> str:
    from ingestd.daemon.lock import refusal

    return refusal(invocation.state_dir, f"waited {waited_seconds:.0f} s")


def _ownership(invocation: Invocation, command: str) -> "Ownership":
    from ingestd.daemon.owner import Ownership

    return Ownership(
        settings=invocation.settings(absent_folders="allowed"),
        configuration=invocation.configuration,
        state_dir=invocation.state_dir,
        adopt=bool(getattr(invocation.arguments, "adopt", False)),
        command=command,
    )


def _acted_here(ownership: "Ownership", command: str, arguments: Values, progress: Callable[[Values], None]) -> Values:
    from ingestd.daemon import answer
    from ingestd.daemon.meanwhile import Meanwhile
    from ingestd.daemon.owner import Owner
    from ingestd.daemon.passes import Hooks
    from ingestd.daemon.signals import Signals

    with ExitStack() as exits:
        stop = exits.enter_context(Signals()).stop if _in_main_thread() else threading.Event()
        try:
            owner = exits.enter_context(Owner(ownership, stop))
        except StateLocked as error:
            if stop.is_set():
                raise KeyboardInterrupt from error
            raise
        meanwhile = exits.enter_context(Meanwhile(owner, command, stop))
        if command in answer.LONG:
            hooks = Hooks(between=meanwhile.between, began=meanwhile.begin, progress=progress)
            return answer.work(owner, command, arguments, hooks)
        parts = owner.parts(owner.register())
        meanwhile.begin(parts)
        if command in answer.QUICK:
            return answer.change(parts, command, arguments)
        owner.collections.ready_all(parts.clock.wall_ns())
        return answer.read(owner, parts, command, arguments, {"running": False, "pid": None, "since": None})


def status_without_owner(invocation: Invocation) -> Values:
    """The ``status`` document, read from the ledger's file by this process."""
    from ingestd.daemon.lock import present_holder
    from ingestd.daemon.reading import empty_status, status_document
    from ingestd.daemon.state import Places, belonging_to, is_readable
    from ingestd.state.engine import Ledger

    places = Places(directory=invocation.state_dir)
    if not places.ledger.exists():
        return empty_status()
    with closing(Ledger(places.ledger)) as ledger:
        if not is_readable(ledger, places.directory, belonging_to(configuration=invocation.configuration)):
            return empty_status()
        holder = present_holder(places.directory)
        owner = {"pid": holder.pid, "since": holder.since, "command": holder.command} if holder else None
        return status_document(ledger, time.time_ns(), {"running": False, "pid": None, "since": None, "working": owner})


def _searched_here(invocation: Invocation, arguments: Values, wait_seconds: float) -> Values:
    from ingestd.daemon.lock import StateLock
    from ingestd.daemon.state import Places
    from ingestd.errors import ConfigurationError

    places = Places(directory=invocation.state_dir)
    nothing = ConfigurationError(
        f"nothing is indexed yet in {places.directory}: run `ingestd sync FOLDER` first, or name the state with "
        "--state-dir"
    )
    if not places.ledger.exists():
        raise nothing
    with StateLock(places.directory, command="search") as lock:
        lock.acquire(wait_seconds, threading.Event())
        found = _search_files(invocation, places, arguments)
    if found is None:
        raise nothing
    return found


def _search_files(invocation: Invocation, places: Any, arguments: Values) -> Values | None:
    import json

    from ingestd.daemon.reading import search_document
    from ingestd.daemon.state import belonging_to, is_readable
    from ingestd.embed.query import embed_query_here
    from ingestd.state.engine import Ledger
    from ingestd.wiring.stores import store

    settings = invocation.settings(absent_folders="allowed")

    def embed(configuration: str, query: str) -> Any:
        value = json.loads(configuration)
        return embed_query_here(value["name"], value["options"], query)

    with ExitStack() as exits:
        ledger = exits.enter_context(closing(Ledger(places.ledger)))
        mine = belonging_to(configuration=invocation.configuration, instance=settings.instance)
        if not is_readable(ledger, places.directory, mine):
            return None
        opened = exits.enter_context(closing(store(settings, places.store, in_process=True)))
        return search_document(ledger, opened, embed, arguments)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
