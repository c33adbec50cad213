"""Small changes that a person asks for: ``retry``, ``forget``, ``confirm``."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from ingestd.daemon.left_out import why_unknown
from ingestd.errors import ConfigurationError
from ingestd.model.paths import path_fields
from ingestd.pipeline.parts import Parts
from ingestd.publish.swap import retire
from ingestd.state import documents, outcomes, roots, sightings, sources
from ingestd.state.engine import Transaction
from ingestd.state.roots import RootRow
from ingestd.state.sources import SourceRow

_STATES = ("done", "pending", "quarantined", "forgotten", "held", "gone")


def retry(parts: Parts, paths: Sequence[str], *, everything: bool) -> dict[str, Any]:
    """Take sources out of quarantine, and those that were put off out of their back-off."""
    with parts.ledger.write("retry") as transaction:
        names = {row.id: row.name for row in roots.all_roots(transaction)}
        found = sources.in_state(transaction, "quarantined", "pending")
        waiting = [source for source in found if source.state == "quarantined" or source.reason]
        chosen = waiting if everything else _below(transaction, waiting, paths)
        outcomes.mark_pending(transaction, [source.id for source in chosen])
    return {
        "retried": [{"root": names[source.root_id], **path_fields(source.path)} for source in chosen],
        "unknown": _unknown(parts, paths),
    }


def forget(parts: Parts, paths: Sequence[str]) -> dict[str, Any]:
    """Take documents out of the index, and keep them out until their file changes.

    A folder that only the command line made a root is given up with all its documents. What is served of a file that is
    no longer there, because its removal is held or not yet due, goes at once.
    """
    unknown = _unknown(parts, paths)
    with parts.ledger.write("forget") as transaction:
        names = {row.id: row.name for row in roots.all_roots(transaction)}
        chosen = _below(transaction, sources.in_state(transaction, "done", "pending", "quarantined"), paths)
        for source in chosen:
            outcomes.forget(transaction, source.id)
        absent = _below(transaction, sources.in_state(transaction, "held", "gone"), paths)
        sightings.confirm_sources(transaction, [source.id for source in absent])
        dropped = [row for row in roots.all_roots(transaction) if _is_given_up(row, paths)]
        for row in dropped:
            sightings.all_gone(transaction, row.id, parts.clock.wall_ns())
            sightings.confirm(transaction, row.id)
            roots.set_state(transaction, row.id, "detached", "given up by `ingestd forget`")
        gone = [source for row in dropped for source in sources.in_state(transaction, "gone", root_id=row.id)]
        removed = {source.id for source in gone}
        gone += sources.by_ids(transaction, [source.id for source in absent if source.id not in removed])
    given_up = {source.id for source in gone}
    _retire(parts, [source for source in chosen if source.id not in given_up])
    _retire(parts, gone, rows=True)
    return {
        "forgotten": [{"root": names[source.root_id], **path_fields(source.path)} for source in (*chosen, *absent)],
        "dropped": [row.name for row in dropped],
        "unknown": unknown,
    }


def _is_given_up(row: RootRow, paths: Sequence[str]) -> bool:
    if row.origin != "folder" or row.state == "detached":
        return False
    return any(os.fsencode(path).rstrip(b"/") == row.path.rstrip(b"/") for path in paths)


def confirm(parts: Parts, root: str | None, *, only_list: bool) -> dict[str, Any]:
    """Let held removals happen: those of one root, or all.

    A root that vanished is accepted as it is now: what is not there any more is retired at the next scan.
    """
    with parts.ledger.read() as transaction:
        known = roots.all_roots(transaction)
        if root is not None and root not in {row.name for row in known}:
            names = ", ".join(row.name for row in known) or "none"
            raise ConfigurationError(f"no root is called {root!r}; known: {names}")
        held = [one for row in known if root in (None, row.name) and (one := _held(transaction, row)) is not None]
    if only_list or not held:
        return {"confirmed": [], "held": held}
    for row in known:
        if root in (None, row.name):
            _let_go(parts, row)
    return {"confirmed": held, "held": []}


def _held(transaction: Transaction, row: RootRow) -> dict[str, Any] | None:
    count = len(sources.in_state(transaction, "held", root_id=row.id))
    if row.state == "vanished":
        count += sources.count_kept(transaction, row.id) + len(sources.in_state(transaction, "gone", root_id=row.id))
    if not count:
        return None
    reasons = {source.reason for source in sources.in_state(transaction, "held", root_id=row.id)} - {None}
    return {
        "root": row.name,
        "documents": count,
        "reason": row.reason or ", ".join(sorted(str(reason) for reason in reasons)),
    }


def _let_go(parts: Parts, row: RootRow) -> None:
    with parts.ledger.write("confirm") as transaction:
        if row.state == "vanished":
            # What is still there under the path is found by the next scan, and then it is not gone.
            sightings.all_gone(transaction, row.id, parts.clock.wall_ns())
            roots.forget_identity(transaction, row.id)
        sightings.confirm(transaction, row.id)


def _retire(parts: Parts, chosen: Sequence[SourceRow], *, rows: bool = False) -> None:
    """Take out what is served of these sources; with ``rows`` also the rows of those that never were."""
    with parts.ledger.read() as transaction:
        served = [source for source in chosen if documents.of_source(transaction, source.id)]
    if served:
        parts.collections.ready_all(parts.clock.wall_ns())
    if retired := chosen if rows else served:
        retire(parts.ledger, parts.collections.store, retired)


def _unknown(parts: Parts, paths: Sequence[str]) -> list[dict[str, Any]]:
    """Paths at which and below which no root knows a source, with the reason."""
    if not paths:
        return []
    with parts.ledger.read() as transaction:
        tops = {row.path.rstrip(b"/") for row in roots.all_roots(transaction)}
        asked = [path for path in paths if os.fsencode(path).rstrip(b"/") not in tops]
        known = sources.in_state(transaction, *_STATES)
        unknown = [path for path in asked if not _below(transaction, known, [path])]
    return [{**path_fields(os.fsencode(path)), "reason": why_unknown(parts, path)} for path in unknown]


def _below(transaction: Transaction, candidates: Iterable[SourceRow], paths: Sequence[str]) -> list[SourceRow]:
    """Candidates that are, or lie below, one of the paths: absolute, or relative to a root."""
    by_id = {row.id: row for row in roots.all_roots(transaction)}
    wanted = [os.fsencode(path) for path in paths]
    return [source for source in candidates if any(_is_at(by_id[source.root_id], source, path) for path in wanted)]


def _is_at(root: RootRow, source: SourceRow, path: bytes) -> bool:
    full = root.path.rstrip(b"/") + b"/" + source.path
    target = path.rstrip(b"/") or b"/"
    candidate = full if target.startswith(b"/") else source.path
    return candidate == target or candidate.startswith(target.rstrip(b"/") + b"/")
