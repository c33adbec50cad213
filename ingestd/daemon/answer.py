"""Answers of the owner to commands: those that only read at once, the others through the loop."""

import os
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestd.daemon.ask import READ
from ingestd.daemon.owner import Owner
from ingestd.daemon.reading import search_document, status_document
from ingestd.daemon.requests import Requests, Values
from ingestd.errors import ConfigurationError
from ingestd.pipeline.parts import Parts
from ingestd.wiring.engines import clock

if TYPE_CHECKING:
    from ingestd.daemon.passes import Hooks

QUICK = ("retry", "forget", "confirm")
LONG = ("sync", "reindex")


def read(owner: Owner, parts: Parts, command: str, arguments: Values, daemon: Values) -> Values:
    """Answer a command that changes nothing, in any thread."""
    # Each command imports its own: one that runs for a moment must not pay for the others.
    match command:
        case "status":
            return status_document(owner.ledger, clock().wall_ns(), daemon)
        case "search":
            return search_document(
                owner.ledger,
                owner.collections.store,
                lambda configuration, query: owner.wiring.embedding(configuration).query(query),
                arguments,
            )
        case "show":
            from ingestd.daemon.inspect import show_document

            return show_document(parts, arguments)
        case "verify":
            from ingestd.daemon.verify import verify_document

            return verify_document(parts)
        case _:
            raise ConfigurationError(f"the daemon knows no command {command!r}")


def change(parts: Parts, command: str, arguments: Values) -> Values:
    """Carry out a small change; the loop's thread only."""
    from ingestd.daemon import changes

    match command:
        case "retry":
            return changes.retry(parts, arguments["paths"], everything=bool(arguments["all"]))
        case "forget":
            return changes.forget(parts, arguments["paths"])
        case "confirm":
            return changes.confirm(parts, arguments.get("root"), only_list=bool(arguments["list"]))
        case _:
            raise ConfigurationError(f"the daemon knows no command {command!r}")


def work(owner: Owner, command: str, arguments: Values, parts_hooks: "Hooks") -> Values:
    """Carry out a pass; the loop's thread only."""
    from ingestd.daemon import passes

    match command:
        case "sync":
            folders = [Path(os.fsdecode(folder)) for folder in arguments["folders"]]
            return passes.sync(owner, folders, parts_hooks)
        case "reindex":
            return passes.reindex(owner, arguments, parts_hooks)
        case _:
            raise ConfigurationError(f"the daemon knows no command {command!r}")


def answer(
    owner: Owner, parts: Parts, requests: Requests, daemon: Values, command: str, arguments: Values
) -> Values | Generator[Values, None, Values]:
    """Answer a command of the control socket."""
    if command in READ:
        return read(owner, parts, command, arguments, daemon)
    if command in (*QUICK, *LONG):
        return requests.ask(command, arguments)
    raise ConfigurationError(f"the daemon knows no command {command!r}")


def daemon_fields() -> dict[str, Any]:
    """Who this daemon is, for ``status``."""
    return {"running": True, "pid": os.getpid(), "since": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
