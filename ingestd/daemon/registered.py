"""Roots in force: those configured, and folders that the command line named."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ingestd.errors import ConfigurationError
from ingestd.settings import RootSettings, Settings, root_for
from ingestd.settings.checks import state_below_a_root
from ingestd.state import facts, outcomes, roots, sightings
from ingestd.state.engine import Ledger, Transaction
from ingestd.state.roots import RootRow

_DETACHED = "detached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """Roots in force, with their settings."""

    roots: Mapping[int, tuple[RootRow, RootSettings]]
    """By the id of the row."""
    scope: Mapping[int, frozenset[bytes]]
    """Roots that the folders named are or lie in; the directories below each, empty for the whole root."""


def register(ledger: Ledger, settings: Settings, folders: Sequence[Path]) -> Registered:
    """Record the roots in force in the ledger; hold the removal of those that left the configuration.

    Documents of a root that has another collection or other tags than before are due again: they are published anew,
    from the caches.

    Raises
    ------
    ConfigurationError
        When a folder is missing, or overlaps a root that it is not part of, or a root holds the state's own files.
    """
    with ledger.write("register") as transaction:
        _drop_empty(transaction)
        before = {row.name: row for row in roots.all_roots(transaction)}
        rows: dict[int, tuple[RootRow, RootSettings]] = {}
        for root in settings.roots:
            row = roots.record(transaction, root.name, os.fsencode(root.path), root.collection, "configured")
            rows[row.id] = (row, root)
            _follow_changes(transaction, before.get(row.name), row, root)
        configured = [os.path.realpath(row.path) for row, _ in rows.values()]
        for row in roots.all_roots(transaction):
            # A folder that the configuration took over under another name would be served twice.
            taken_over = any(_overlap(os.path.realpath(row.path), path) for path in configured)
            if row.origin == "folder" and row.state != "detached" and not taken_over:
                rows[row.id] = (row, _folder_settings(settings, row))
        scope = _scope(transaction, settings, rows, folders)
        _refuse_own_files(settings, rows, ledger.file.parent)
        _detach(transaction, rows)
        return Registered(roots=rows, scope=scope)


def _drop_empty(transaction: Transaction) -> None:
    """Forget roots that are over: those detached, and folders that are no more, once nothing of them is left."""
    for row in roots.all_roots(transaction):
        if row.state == "detached" or (row.origin == "folder" and not os.path.isdir(row.path)):  # noqa: PTH112  bytes
            roots.forget_root(transaction, row.id)


def _follow_changes(transaction: Transaction, before: RootRow | None, row: RootRow, root: RootSettings) -> None:
    tags, key = json.dumps(sorted(root.tags)), f"tags:{root.name}"
    known = facts.read(transaction, key)
    if known != tags:
        facts.state(transaction, key, tags)
    if before is None:
        return
    if before.state == "detached":
        sightings.release_root(transaction, row.id, _DETACHED)
    if before.collection != row.collection or known not in (None, tags):
        outcomes.redo_root(transaction, row.id)


def _scope(
    transaction: Transaction,
    settings: Settings,
    rows: dict[int, tuple[RootRow, RootSettings]],
    folders: Sequence[Path],
) -> dict[int, frozenset[bytes]]:
    named: dict[int, set[bytes]] = {}
    for folder in folders:
        id_, directory = _place(transaction, settings, rows, folder)
        named.setdefault(id_, set()).add(directory)
    return {id_: frozenset() if b"" in directories else frozenset(directories) for id_, directories in named.items()}


def _place(
    transaction: Transaction,
    settings: Settings,
    rows: dict[int, tuple[RootRow, RootSettings]],
    folder: Path,
) -> tuple[int, bytes]:
    """Root that the folder is or lies in, made when there is none, and the folder's path below it."""
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is no folder: name one that exists")
    path = os.fsencode(os.path.abspath(folder))  # noqa: PTH100  links in a root's own path are the user's choice
    real = os.path.realpath(path)
    for id_, (row, _) in rows.items():
        root = os.path.realpath(row.path)
        if real == root:
            return id_, b""
        if real.startswith(root.rstrip(b"/") + b"/"):
            return id_, real.removeprefix(root.rstrip(b"/") + b"/")
        if root.startswith(real.rstrip(b"/") + b"/"):
            raise ConfigurationError(
                f"{folder} contains the root {row.name!r} ({os.fsdecode(row.path)}), and a file belongs to one root: "
                "name that folder itself, or keep the larger one in a state of its own with --state-dir"
            )
    known = roots.all_roots(transaction)
    # A folder that was a root before keeps its name, on which the ids of its documents rest.
    before = next((row for row in known if row.path == path and row.origin == "folder"), None)
    made = root_for(Path(os.fsdecode(path)), settings, [row.name for row in known])
    row = roots.record(transaction, before.name if before else made.name, path, made.collection, "folder")
    if before is not None and before.state == "detached":
        sightings.release_root(transaction, row.id, _DETACHED)
    rows[row.id] = (row, _folder_settings(settings, row))
    return row.id, b""


def _overlap(one: bytes, other: bytes) -> bool:
    first, second = one.rstrip(b"/") + b"/", other.rstrip(b"/") + b"/"
    return first.startswith(second) or second.startswith(first)


def _folder_settings(settings: Settings, row: RootRow) -> RootSettings:
    made = root_for(Path(os.fsdecode(row.path)), settings, ())
    return replace(made, name=row.name, collection=row.collection)


def _refuse_own_files(settings: Settings, rows: Mapping[int, tuple[RootRow, RootSettings]], state: Path) -> None:
    in_force = replace(settings, roots=tuple(root for _, root in rows.values()))
    found = [finding.message for finding in state_below_a_root(in_force, state)]
    if found:
        raise ConfigurationError("; ".join(found))


def _detach(transaction: Transaction, rows: Mapping[int, tuple[RootRow, RootSettings]]) -> None:
    for row in roots.all_roots(transaction):
        if row.id not in rows and row.state != "detached":
            roots.set_state(transaction, row.id, "detached", "not in the configuration any more")
        if row.id not in rows:
            sightings.hold_root(transaction, row.id, _DETACHED)
