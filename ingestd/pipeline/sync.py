"""One pass over everything: scan, then work until nothing is due."""

from dataclasses import dataclass

from ingestd.discover.settle import Settling
from ingestd.pipeline import rebuild
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.removal import remove_due
from ingestd.pipeline.scan import scan_roots
from ingestd.pipeline.tally import Tally
from ingestd.state import outcomes, sources

PATIENCE_SECONDS = 60.0
"""So long, and the settling time twice, a pass waits while no file holds still: then it leaves what is left."""
_LONGEST_WAIT_SECONDS = 1.0
_LEFT_SECONDS = 10.0
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What a pass left behind."""

    paused: frozenset[str]
    """Collections that wait for a reindex."""
    stopped: bool


def sync(parts: Parts, tally: Tally) -> Pass:
    """Scan every root, do all that is due, wait for files that still settle; leave when nothing is pending.

    Sources deferred by a back-off are left for the next pass.

    Raises
    ------
    StoreUnavailable
        When the store went away.
    """
    with tally.timed("scan"):
        scan_roots(parts, tally)
    return settle_all(parts, tally, Settling[int](parts.settle_seconds))


def settle_all(parts: Parts, tally: Tally, settling: Settling[int]) -> Pass:
    """Do all that is due, and wait for what will be due within the settling time.

    A file that never holds still is left to the next pass, with the reason.
    """
    paused: frozenset[str] = frozenset()
    pending, since = -1, 0.0
    while not parts.stop.is_set():
        wait = work(parts, tally, settling)
        paused |= wait.paused
        if wait.seconds is None:
            break
        now = parts.clock.monotonic()
        if (left := _count_pending(parts)) != pending:
            pending, since = left, now
        elif now - since >= PATIENCE_SECONDS + 2 * parts.settle_seconds:
            _leave(parts, paused)
            break
        parts.between()
        parts.stop.wait(min(wait.seconds, _LONGEST_WAIT_SECONDS))
    return Pass(paused=paused, stopped=parts.stop.is_set())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """When to work again."""

    seconds: float | None
    """Until the next file has been left alone long enough, or the next removal is due; ``None`` when none waits."""
    paused: frozenset[str]


def work(parts: Parts, tally: Tally, settling: Settling[int]) -> Wait:
    """Do once what is due now."""
    paused: frozenset[str] = frozenset()
    parts.collections.drop_retired()
    rebuild.go_on(parts, tally)
    if _is_any_due(parts):
        # Here, so that a pass that finds nothing to do is over before an engine would be imported.
        from ingestd.pipeline.ingest import Ingestion

        ingestion = Ingestion(parts, tally, settling)
        ingestion.run()
        paused = ingestion.paused
    removal = remove_due(parts, tally)
    parts.collections.settle(parts.clock.wall_ns())
    rebuild.finish_all(parts, tally)
    _forget_settled(parts, settling, paused)
    next_look = settling.next_due()
    until_look = None if next_look is None else max(next_look - parts.clock.monotonic(), 0.0)
    waits = [seconds for seconds in (removal, until_look, _until_settled(parts)) if seconds is not None]
    return Wait(seconds=min(waits, default=None), paused=paused)


def _forget_settled(parts: Parts, settling: Settling[int], paused: frozenset[str]) -> None:
    """Wait no longer for files that went, or that someone else decided about."""
    due = settling.due(parts.clock.monotonic())
    if not due:
        return
    with parts.ledger.read() as transaction:
        waiting = {
            source.id
            for source in sources.by_ids(transaction, due)
            if source.state == "pending"
            and source.root_id in parts.roots
            and str(parts.roots[source.root_id].collection) not in paused
        }
    for id_ in due:
        if id_ not in waiting:
            settling.forget(id_)


def _until_settled(parts: Parts) -> float | None:
    now = parts.clock.wall_ns()
    with parts.ledger.read() as transaction:
        due_ns = sources.next_settling(transaction, now, list(parts.roots))
    return None if due_ns is None else (due_ns - now) / _NANOSECONDS


def _leave(parts: Parts, paused: frozenset[str]) -> None:
    delay = max(_LEFT_SECONDS, parts.settle_seconds)
    with parts.ledger.write("left") as transaction:
        for source in sources.in_state(transaction, "pending"):
            plan = parts.roots.get(source.root_id)
            if plan is not None and source.reason is None and str(plan.collection) not in paused:
                not_before = parts.clock.wall_ns() + int(delay * _NANOSECONDS)
                outcomes.defer(transaction, source, not_before, "it was still changing when the pass ended")


def _count_pending(parts: Parts) -> int:
    with parts.ledger.read() as transaction:
        return sources.count_pending(transaction)


def _is_any_due(parts: Parts) -> bool:
    with parts.ledger.read() as transaction:
        return bool(sources.due(transaction, parts.clock.wall_ns(), 1, list(parts.roots)))
