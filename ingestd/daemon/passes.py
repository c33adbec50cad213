"""Runs of work that end: ``sync`` and ``reindex``, with the documents that report them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from ingestd.daemon.owner import Owner
from ingestd.daemon.registered import Registered
from ingestd.discover.settle import Settling
from ingestd.errors import ConfigurationError
from ingestd.model.paths import path_fields
from ingestd.pipeline import rebuild
from ingestd.pipeline import sync as pass_over
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.reindex import free_quarantined, mark_stale, plan_document, stale_documents
from ingestd.pipeline.scan import scan_root
from ingestd.pipeline.staleness import count_stale
from ingestd.pipeline.tally import Tally
from ingestd.state import generations, outcomes, report, roots, sources

_COUNTS = (
    "seen",
    "unchanged",
    "ignored",
    "converted",
    "conversions_reused",
    "chunks",
    "embedded",
    "vectors_reused",
    "points_written",
    "points_deleted",
    "payloads_overwritten",
)
_STAGES = ("scan", "stage", "convert", "chunk", "embed", "publish")
_PROGRESS_SECONDS = 0.2
"""Between two progress values: a fast embedder calls ten times as often, and each value is a look into the ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What a pass calls while it works, from the thread that works."""

    between: Callable[[], None] = lambda: None
    """Nothing is half done: a moment to answer others."""
    began: Callable[[Parts], None] = lambda _parts: None
    """The pass knows its roots, and has not begun to work on them."""
    progress: Callable[[dict[str, Any]], None] = lambda _event: None
    """``{"stage", "done", "total"}`` as the command line's progress bars take it."""


def sync(owner: Owner, folders: Sequence[Path], hooks: Hooks) -> dict[str, Any]:
    """One pass over the folders, or over every root.

    Raises
    ------
    StoreUnavailable, ConfigurationError
        As :func:`ingestd.pipeline.sync.sync`.
    """
    registered = owner.register(folders)
    with owner.ledger.write("due") as transaction:
        outcomes.make_due(transaction)
    tally = Tally()
    parts = _parts(owner, registered, tally, hooks)
    scanned: list[int] = []
    with tally.timed("scan"):
        for id_, plan in parts.roots.items():
            if folders and id_ not in registered.scope:
                continue
            directories = registered.scope.get(id_) or None
            scan_root(parts, plan, tally, directories=directories)
            scanned.append(id_)
    free_quarantined(parts)
    done = pass_over.settle_all(parts, tally, Settling[int](parts.settle_seconds))
    stale = count_stale(parts, scanned)
    return sync_document(parts, tally) | {
        "vanished": _vanished(parts, scanned),
        "unread": _unread(parts, tally),
        "stale": stale,
        "paused": sorted(done.paused | _waiting(parts, scanned)),
        "stopped": done.stopped,
    }


def sync_document(parts: Parts, tally: Tally) -> dict[str, Any]:
    """The contract's ``sync`` document."""
    counts, touched = tally.counts, tally.touched
    now = parts.clock.wall_ns()
    with parts.ledger.read() as transaction:
        failed = report.quarantined(transaction)
        deferred = report.deferred(transaction, now)
        held = report.held_count(transaction)
    return {
        **{name: counts[name] for name in _COUNTS},
        **{name: len(touched.get(name, ())) for name in ("added", "changed", "moved", "removed")},
        "held": held,
        "stale_served": sum(one["stale_served"] for one in failed),
        "failed": failed,
        "deferred": deferred,
        "seconds": round(monotonic() - tally.started, 3),
        "stage_seconds": {name: round(tally.seconds[name], 3) for name in _STAGES},
    }


def _vanished(parts: Parts, scanned: Sequence[int]) -> list[dict[str, Any]]:
    with parts.ledger.read() as transaction:
        return [
            {"root": row.name, "reason": row.reason}
            for row in roots.all_roots(transaction)
            if row.id in scanned and row.state == "vanished"
        ]


def _waiting(parts: Parts, scanned: Sequence[int]) -> set[str]:
    """Collections whose ingestion waits for a reindex, whether or not anything is due."""
    with parts.ledger.read() as transaction:
        named = {parts.roots[id_].collection for id_ in scanned}
        return {str(collection) for collection in named if generations.paused(transaction, collection)}


def _unread(parts: Parts, tally: Tally) -> list[dict[str, Any]]:
    return [
        {"root": parts.roots[root_id].name, **path_fields(directory), "reason": reason}
        for (root_id, directory), reason in sorted(tally.unread.items())
    ]


def reindex(owner: Owner, arguments: dict[str, Any], hooks: Hooks) -> dict[str, Any]:
    """Bring served documents to the recipe in force; with ``dry_run`` only say what that would cost.

    Raises
    ------
    ConfigurationError
        When a root or collection named is not known, or a collection needs a rebuild and ``force`` is not given.
    """
    tally = Tally()
    parts = _parts(owner, owner.register(), tally, hooks)
    ids = _chosen(parts, arguments)
    outdated = rebuild.outdated(parts, ids)
    if arguments.get("dry_run"):
        return plan_document(parts, ids, outdated) | {
            "rebuild": sorted(outdated),
            "left_behind": rebuild.left_behind(parts, tuple(outdated)),
        }
    if outdated and not arguments.get("force"):
        names = ", ".join(sorted(outdated))
        raise ConfigurationError(
            f"the embedder of {names} changed, so every text has to be embedded again: run `ingestd reindex --force`, "
            "or restore the embedder's settings"
        )
    previous = _generation_numbers(parts)
    for collection, plan in outdated.items():
        rebuild.begin(parts, collection, plan)
    free_quarantined(parts)
    mark_stale(parts, stale_documents(parts, ids))
    done = pass_over.settle_all(parts, tally, Settling[int](parts.settle_seconds))
    return sync_document(parts, tally) | {
        "vanished": _vanished(parts, ids),
        "paused": sorted(done.paused),
        "stopped": done.stopped,
        "stale": count_stale(parts, ids),
        "mode": "rolling",
        "generation": _generation_numbers(parts),
        "previous_generation": previous,
    }


def _parts(owner: Owner, registered: Registered, tally: Tally, hooks: Hooks) -> Parts:
    told = float("-inf")

    def between() -> None:
        nonlocal told
        hooks.between()
        now = monotonic()
        if now - told < _PROGRESS_SECONDS:
            return
        told = now
        done, pending = tally.counts["documents"], _pending(owner)
        hooks.progress({"stage": "documents", "done": done, "total": done + pending})
        # A group is published at once: what is made ready for it moves the other two.
        ready = max(done, tally.counts["converted"] + tally.counts["conversions_reused"])
        hooks.progress({"stage": "converted", "done": ready, "total": max(ready, done + pending)})
        if embedded := tally.counts["embedded"]:
            hooks.progress({"stage": "texts embedded", "done": embedded, "total": None})

    parts = owner.parts(registered, between=between)
    hooks.began(parts)
    return parts


def _pending(owner: Owner) -> int:
    with owner.ledger.read() as transaction:
        return sources.count_pending(transaction)


def _chosen(parts: Parts, arguments: dict[str, Any]) -> list[int]:
    roots: list[str] = arguments.get("root") or []
    collections: list[str] = arguments.get("collection") or []
    for kind, wanted, known in (
        ("root", roots, {plan.name for plan in parts.roots.values()}),
        ("collection", collections, {plan.collection for plan in parts.roots.values()}),
    ):
        for name in wanted:
            if name not in known:
                raise ConfigurationError(f"no {kind} is called {name!r}; known: {', '.join(sorted(known)) or 'none'}")
    return [
        id_
        for id_, plan in parts.roots.items()
        if (not roots or plan.name in roots) and (not collections or plan.collection in collections)
    ]


def _generation_numbers(parts: Parts) -> dict[str, int]:
    with parts.ledger.read() as transaction:
        return {
            str(row.generation.collection): row.generation.number
            for row in generations.all_generations(transaction)
            if row.state == "live"
        }
