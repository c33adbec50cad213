"""One pass over everything: scan, then work until nothing is due."""

from dataclasses import dataclass

from ingestd.discover.settle import Settling
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.removal import remove_due
from ingestd.pipeline.scan import scan_roots
from ingestd.pipeline.tally import Tally
from ingestd.state import sources

_LONGEST_WAIT_SECONDS = 1.0


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
    """Do all that is due, and wait for what will be due within the settling time."""
    paused: frozenset[str] = frozenset()
    while not parts.stop.is_set():
        wait = work(parts, tally, settling)
        paused |= wait.paused
        if wait.seconds is None:
            break
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
    if _is_any_due(parts):
        # Here, so that a pass that finds nothing to do is over before an engine would be imported.
        from ingestd.pipeline.ingest import Ingestion

        ingestion = Ingestion(parts, tally, settling)
        ingestion.run()
        paused = ingestion.paused
    removal = remove_due(parts, tally)
    parts.collections.settle(parts.clock.wall_ns())
    next_look = settling.next_due()
    until_look = None if next_look is None else max(next_look - parts.clock.monotonic(), 0.0)
    waits = [seconds for seconds in (removal, until_look) if seconds is not None]
    return Wait(seconds=min(waits, default=None), paused=paused)


def _is_any_due(parts: Parts) -> bool:
    with parts.ledger.read() as transaction:
        return bool(sources.due(transaction, parts.clock.wall_ns(), 1, list(parts.roots)))
