"""Has the owner of the state act: the running daemon, or this process for a moment."""

import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

from ingestd.cli.invocation import Invocation
from ingestd.daemon.ask import OwnerAbsent, ask
from ingestd.daemon.rendezvous import socket_path
from ingestd.errors import StateLocked

Values = dict[str, Any]


def acted(
    invocation: Invocation,
    command: str,
    arguments: Values,
    *,
    timeout_seconds: float | None = 60.0,
    progress: Callable[[Values], None] = lambda _event: None,
) -> Values:
    """Document of a command, carried out by the daemon where one runs, else here.

    Raises
    ------
    StateLocked
        When another process owns the state and does not answer.
    IngestdError
        Whatever the command ended with.
    """
    asked = asked_owner(invocation, command, arguments, timeout_seconds=timeout_seconds, progress=progress)
    if asked is not None:
        return asked
    try:
        return _acted_here(invocation, command, arguments, progress)
    except StateLocked:
        # An owner that was just starting may answer by now.
        asked = asked_owner(invocation, command, arguments, timeout_seconds=timeout_seconds, progress=progress)
        if asked is None:
            raise
        return asked


def asked_owner(
    invocation: Invocation,
    command: str,
    arguments: Values,
    *,
    timeout_seconds: float | None,
    progress: Callable[[Values], None] | None = None,
) -> Values | None:
    """Reply of the running daemon; ``None`` where none runs."""
    path = socket_path(invocation.state_dir)
    try:
        return ask(path, command, arguments, timeout_seconds=timeout_seconds, progress=progress)
    except OwnerAbsent as error:
        if error.asked:
            raise
        return None


def _acted_here(invocation: Invocation, command: str, arguments: Values, progress: Callable[[Values], None]) -> Values:
    from ingestd.daemon import answer
    from ingestd.daemon.owner import Owner, Ownership
    from ingestd.daemon.passes import Hooks
    from ingestd.daemon.signals import Signals

    ownership = Ownership(
        settings=invocation.settings(absent_folders="allowed"),
        configuration=invocation.configuration,
        state_dir=invocation.state_dir,
        adopt=bool(getattr(invocation.arguments, "adopt", False)),
    )
    with ExitStack() as exits:
        stop = exits.enter_context(Signals()).stop if _in_main_thread() else threading.Event()
        owner = exits.enter_context(Owner(ownership, stop))
        if command in answer.LONG:
            return answer.work(owner, command, arguments, Hooks(progress=progress))
        parts = owner.parts(owner.register())
        if command in answer.QUICK:
            return answer.change(parts, command, arguments)
        owner.collections.ready_all(parts.clock.wall_ns())
        return answer.read(owner, parts, command, arguments, {"running": False, "pid": None, "since": None})


def status_without_owner(invocation: Invocation) -> Values:
    """The ``status`` document, read from the ledger's file by this process."""
    import time

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
        owner = {"pid": holder.pid, "since": holder.since} if holder else None
        return status_document(ledger, time.time_ns(), {"running": False, "pid": None, "since": None, "working": owner})


def searched_without_owner(invocation: Invocation, arguments: Values) -> Values:
    """The ``search`` document, from files opened by this process for a moment."""
    import threading as threads

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
    with StateLock(places.directory) as lock:
        lock.acquire(LOCK_SECONDS, threads.Event())
        found = _search_files(invocation, places, arguments)
    if found is None:
        raise nothing
    return found


LOCK_SECONDS = 5.0
"""How long a one-shot search waits for an owner that does not answer."""


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
