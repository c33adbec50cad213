"""Takes documents out whose files are gone, unless so many are gone that a person must confirm it."""

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Sequence

from ingestd.beneath import open_beneath, resolve_inside
from ingestd.discover.guard import emptied, mass_removal
from ingestd.discover.root import RootIdentity
from ingestd.logs import Log
from ingestd.model.source import Signature
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.scan import recorded_identity
from ingestd.pipeline.tally import Tally
from ingestd.publish.swap import retire
from ingestd.state import documents, roots, sightings, sources
from ingestd.state.sources import SourceRow

AT_ONCE = 256
"""Sources retired under one flush."""
_NANOSECONDS = 1_000_000_000
_NOTHING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV, errno.ENXIO, errno.ENODEV})
"""No regular file is at the path, whatever else is."""

log = Log(__name__)


def remove_due(parts: Parts, tally: Tally) -> float | None:
    """Retire what is gone and not held.

    A path that is gone waits ``settle_seconds``, for a file that is saved by writing another and renaming it; then it
    is looked at once more.

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
    allowed = _allowed(parts, _really_gone(parts, ripe), tally)
    for start in range(0, len(allowed), AT_ONCE):
        if parts.stop.is_set():
            break
        _retire(parts, allowed[start : start + AT_ONCE], tally)
    seen_to = {source.id for source in ripe}
    young = [source.looked_ns + grace - now for source in gone if source.id not in seen_to]
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


def _really_gone(parts: Parts, ripe: Sequence[SourceRow]) -> list[SourceRow]:
    """Those that a person confirmed, and those that are still not there below a root that is."""
    still_gone: list[SourceRow] = []
    back: list[tuple[SourceRow, Signature]] = []
    asked = {source.root_id for source in ripe}
    there = {id_: _is_there(parts, plan) for id_, plan in parts.roots.items() if id_ in asked}
    for source in ripe:
        if source.confirmed:
            still_gone.append(source)
        elif there.get(source.root_id):
            try:
                signature = _signature(parts.roots[source.root_id], source.path)
            except OSError as error:
                # Neither gone nor back: the next scan tells.
                log.debug("removal.unknown", root=source.root_id, path=source.path, reason=error.strerror)
                continue
            if signature is None:
                still_gone.append(source)
            else:
                back.append((source, signature))
    if back:
        with parts.ledger.write("back") as transaction:
            for source, signature in back:
                directory, _, name = source.path.rpartition(b"/")
                sightings.seen(transaction, source.root_id, directory, {name: signature}, parts.clock.wall_ns())
    return still_gone


def _is_there(parts: Parts, plan: RootPlan) -> bool:
    # A root that went away since the scan, or is another, says nothing about what is in it; the next scan reports it.
    with parts.ledger.read() as transaction:
        recorded = recorded_identity(roots.by_id(transaction, plan.row.id))
    try:
        identity = RootIdentity.of(os.stat(plan.row.path))  # noqa: PTH116  a path in bytes
        with os.scandir(plan.row.path) as entries:
            return recorded in (None, identity) and next(entries, None) is not None
    except OSError:
        return False


def _signature(plan: RootPlan, path: bytes) -> Signature | None:
    """What is at the path, ``None`` where no file is; raises :class:`OSError` where that cannot be told."""
    root = os.open(plan.row.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        real = resolve_inside(plan.row.path, path) if plan.follow_links else path
        if not real:
            return None
        found = open_beneath(root, real)
        try:
            status = os.fstat(found)
        finally:
            os.close(found)
    except OSError as error:
        if error.errno in _NOTHING:
            return None
        raise
    finally:
        os.close(root)
    return Signature.of(status) if stat.S_ISREG(status.st_mode) else None


def _allowed(parts: Parts, ripe: Sequence[SourceRow], tally: Tally) -> list[SourceRow]:
    by_root: dict[int, list[SourceRow]] = defaultdict(list)
    for source in ripe:
        by_root[source.root_id].append(source)
    moved = _moved(parts, ripe)
    allowed: list[SourceRow] = []
    for root_id, group in by_root.items():
        losses = [source for source in group if source.id not in moved and not source.confirmed]
        with parts.ledger.read() as transaction:
            # Of what was never served a person loses nothing.
            asked = [source for source in losses if documents.of_source(transaction, source.id)]
            known = sources.count_kept(transaction, root_id) + len(asked)
        if mass_removal(len(asked), known) or emptied(len(asked), known):
            log.warning("removals.held", root=root_id, count=len(asked), known=known)
            with parts.ledger.write("hold") as transaction:
                sightings.hold(transaction, [source.id for source in asked], "mass-removal")
            tally.add("newly_held", len(asked))
            for source in asked:
                tally.untouch("removed", source.root_id, source.path)
            held = {source.id for source in asked}
            allowed.extend(source for source in group if source.id not in held)
        else:
            allowed.extend(group)
    return allowed


def _moved(parts: Parts, ripe: Sequence[SourceRow]) -> set[int]:
    """Sources that are no loss: their bytes are served under another path by now."""
    successors = {source.successor_id for source in ripe if source.successor_id is not None}
    with parts.ledger.read() as transaction:
        served = {source.id for source in sources.by_ids(transaction, sorted(successors)) if source.state == "done"}
    return {source.id for source in ripe if source.successor_id in served}
