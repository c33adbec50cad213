"""Takes documents out whose files are gone, unless so many are gone that a person must confirm it."""

from collections import defaultdict
from collections.abc import Sequence

from ingestd.discover.guard import emptied, mass_removal
from ingestd.logs import Log
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.tally import Tally
from ingestd.publish.swap import retire
from ingestd.state import documents, sources
from ingestd.state.sources import SourceRow

AT_ONCE = 256
"""Sources retired under one flush."""
_NANOSECONDS = 1_000_000_000

log = Log(__name__)


def remove_due(parts: Parts, tally: Tally) -> float | None:
    """Retire what is gone and not held.

    A path that is gone waits ``settle_seconds``, for a file that is saved by writing another and renaming it.

    Returns
    -------
    float or None
        Seconds until the next removal is due; ``None`` when none waits.
    """
    now = parts.clock.wall_ns()
    grace = int(parts.settle_seconds * _NANOSECONDS)
    with parts.ledger.read() as transaction:
        gone = sources.removals(transaction)
    ripe = [source for source in gone if source.confirmed or not now - grace < source.looked_ns <= now]
    allowed = _allowed(parts, ripe, tally)
    for start in range(0, len(allowed), AT_ONCE):
        if parts.stop.is_set():
            break
        _retire(parts, allowed[start : start + AT_ONCE], tally)
    young = [source.looked_ns + grace - now for source in gone if source not in set(ripe)]
    return max(min(young), 0) / _NANOSECONDS if young else None


def _retire(parts: Parts, gone: Sequence[SourceRow], tally: Tally) -> None:
    with tally.timed("publish"):
        if any_served(parts, gone):
            parts.collections.ready_all(parts.clock.wall_ns())
        tally.add("points_deleted", retire(parts.ledger, parts.collections.store, gone))
    log.info("documents.retired", count=len(gone))


def any_served(parts: Parts, gone: Sequence[SourceRow]) -> bool:
    """Whether the store may hold something of these sources."""
    with parts.ledger.read() as transaction:
        return any(documents.of_source(transaction, source.id) for source in gone)


def _allowed(parts: Parts, ripe: Sequence[SourceRow], tally: Tally) -> list[SourceRow]:
    by_root: dict[int, list[SourceRow]] = defaultdict(list)
    for source in ripe:
        by_root[source.root_id].append(source)
    allowed: list[SourceRow] = []
    for root_id, group in by_root.items():
        # A move is no loss: its bytes are served under another path by now.
        asked = [source for source in group if source.successor_id is None and not source.confirmed]
        with parts.ledger.read() as transaction:
            known = sources.count_kept(transaction, root_id) + len(asked)
        if mass_removal(len(asked), known) or emptied(len(asked), known):
            log.warning("removals.held", root=root_id, count=len(asked), known=known)
            with parts.ledger.write("hold") as transaction:
                sources.hold(transaction, [source.id for source in asked], "mass-removal")
            tally.add("newly_held", len(asked))
            held = {source.id for source in asked}
            allowed.extend(source for source in group if source.id not in held)
        else:
            allowed.extend(group)
    return allowed
