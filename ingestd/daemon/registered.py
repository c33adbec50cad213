"""Roots in force: those configured, and folders that the command line named."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ingestd.errors import ConfigurationError
from ingestd.settings import RootSettings, Settings, root_for
from ingestd.state import roots, sources
from ingestd.state.engine import Ledger, Transaction
from ingestd.state.roots import RootRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """Roots in force, with their settings."""

    roots: Mapping[int, tuple[RootRow, RootSettings]]
    """By the id of the row."""
    scope: Mapping[int, frozenset[bytes]]
    """Roots that the folders named are or lie in; the directories below each, empty for the whole root."""


def register(ledger: Ledger, settings: Settings, folders: Sequence[Path]) -> Registered:
    """Record the roots in force in the ledger; hold the removal of those that left the configuration.

    Raises
    ------
    ConfigurationError
        When a folder is missing, or overlaps a root that it is not part of.
    """
    with ledger.write("register") as transaction:
        rows: dict[int, tuple[RootRow, RootSettings]] = {}
        for root in settings.roots:
            row = roots.record(transaction, root.name, os.fsencode(root.path), root.collection, "configured")
            rows[row.id] = (row, root)
        for row in roots.all_roots(transaction):
            if row.origin == "folder" and row.state != "detached":
                rows[row.id] = (row, _folder_settings(settings, row))
        scope = dict(_scope(transaction, settings, rows, folder) for folder in folders)
        _detach(transaction, rows)
        return Registered(roots=rows, scope=scope)


def _scope(
    transaction: Transaction,
    settings: Settings,
    rows: dict[int, tuple[RootRow, RootSettings]],
    folder: Path,
) -> tuple[int, frozenset[bytes]]:
    path = os.fsencode(os.path.abspath(folder))  # noqa: PTH100  links in a root's own path are the user's choice
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is no folder: name one that exists")
    for id_, (row, _) in rows.items():
        if path == row.path:
            return id_, frozenset()
        if path.startswith(row.path.rstrip(b"/") + b"/"):
            return id_, frozenset({path.removeprefix(row.path.rstrip(b"/") + b"/")})
        if row.path.startswith(path.rstrip(b"/") + b"/"):
            raise ConfigurationError(
                f"{folder} contains the root {row.name!r} ({os.fsdecode(row.path)}): name that folder itself, or "
                "detach the root first with `ingestd forget --root`"
            )
    known = roots.all_roots(transaction)
    # A folder that was a root before keeps its name, on which the ids of its documents rest.
    before = next((row for row in known if row.path == path and row.origin == "folder"), None)
    made = root_for(Path(os.fsdecode(path)), settings, [row.name for row in known])
    row = roots.record(transaction, before.name if before else made.name, path, made.collection, "folder")
    rows[row.id] = (row, _folder_settings(settings, row))
    return row.id, frozenset()


def _folder_settings(settings: Settings, row: RootRow) -> RootSettings:
    made = root_for(Path(os.fsdecode(row.path)), settings, ())
    return replace(made, name=row.name, collection=row.collection)


def _detach(transaction: Transaction, rows: Mapping[int, tuple[RootRow, RootSettings]]) -> None:
    for row in roots.all_roots(transaction):
        if row.id not in rows and row.state != "detached":
            roots.set_state(transaction, row.id, "detached", "not in the configuration any more")
        if row.id not in rows:
            sources.hold_root(transaction, row.id, "detached")
