"""Scans roots, then states in the ledger what changed."""

import json
import os
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing

from ingestd.discover.difference import moves
from ingestd.discover.root import Online, Replaced, RootIdentity, Vanished, examine
from ingestd.discover.scan import DirectoryScan, ScanRoot, scan
from ingestd.logs import Log
from ingestd.model.source import Signature, display
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.tally import Tally
from ingestd.state import documents, facts, roots, sightings, sources
from ingestd.state.engine import Transaction
from ingestd.state.known import KnownInLedger

CHANGES_AT_ONCE = 2000
"""Changed sources stated in one transaction."""
NOTES_KEPT = 1000
"""Names that cannot be taken up, kept for ``status``; more are only counted."""

log = Log(__name__)


def scan_roots(parts: Parts, tally: Tally) -> None:
    """Scan every root whole."""
    for plan in parts.roots.values():
        if not parts.stop.is_set():
            scan_root(parts, plan, tally)


def scan_root(
    parts: Parts,
    plan: RootPlan,
    tally: Tally,
    *,
    directories: Collection[bytes] | None = None,
    deep: bool = True,
    covered: Callable[[bytes], None] = lambda _directory: None,
) -> bool:
    """Scan one root, or some directories of it; a root that is not what it was retires nothing.

    Parameters
    ----------
    covered
        Called with each directory that the scan came by.

    Returns
    -------
    bool
        Whether the root is there.

    Raises
    ------
    StoreUnavailable, StoreMismatch
        At a root's first scan, when the store holds a collection that the ledger lost.
    """
    row = _row(parts, plan)
    if row.last_scan_ns is None and parts.collections.survives(plan.collection):
        # What a lost ledger knew is in the store: without it, a file that is gone by now would be found for ever.
        parts.collections.target(plan.collection, plan.space, parts.clock.wall_ns())
        row = _row(parts, plan)
    with closing(KnownInLedger(parts.ledger, plan.row.id)) as known:
        seen = _examined(parts, plan, row, known)
        if seen is None:
            return False
        if row.state == "vanished":
            # It is back: whatever happened to it meanwhile is to be found.
            directories = None
        root = ScanRoot(
            path=plan.row.path,
            rules=plan.rules,
            identity=seen,
            follow_links=plan.follow_links,
            submounts=submounts(parts, plan),
        )
        found_scans = scan(root, known, directories=directories, deep=deep, stop=parts.stop.is_set)
        _apply_all(parts, plan, _telling(found_scans, covered), tally, whole=directories is None)
    if row.state == "vanished":
        _hold_unless_back(parts, plan, tally)
    return True


def _hold_unless_back(parts: Parts, plan: RootPlan, tally: Tally) -> None:
    """Go on holding what a root served when none of it came back: a new file alone does not make it the root it was."""
    with parts.ledger.write("not-back") as transaction:
        gone = [one for one in sources.in_state(transaction, "gone", root_id=plan.row.id) if not one.confirmed]
        lost = [one for one in gone if one.successor_id is None and documents.of_source(transaction, one.id)]
        there = sources.in_state(transaction, "done", "pending", "quarantined", root_id=plan.row.id)
        if not lost or any(documents.of_source(transaction, one.id) for one in there):
            return
        sightings.hold(transaction, [one.id for one in lost], "none of it came back since the root was found empty")
    for one in lost:
        tally.untouch("removed", plan.row.id, one.path)


def _examined(parts: Parts, plan: RootPlan, row: roots.RootRow, known: KnownInLedger) -> RootIdentity | None:
    """Identity of the root that is there; ``None`` where it is stated not to be."""
    identity = recorded_identity(row)
    match examine(plan.row.path, identity, known):
        case Vanished(reason=reason):
            _set_offline(parts, plan, reason)
            return None
        case Replaced(identity=seen, looked_for=looked_for) as found if found.is_same_tree:
            log.info("root.renumbered", root=plan.name, looked_for=looked_for)
        case Replaced(found=found, looked_for=looked_for):
            _set_offline(
                parts,
                plan,
                f"{display(plan.row.path)} is another directory than it was, with {found} of {looked_for} known "
                f"sources in it: run `ingestd confirm {plan.name}` to accept it",
            )
            return None
        case Online(identity=seen):
            pass
    if identity != seen:
        with parts.ledger.write("root") as transaction:
            roots.set_identity(transaction, plan.row.id, seen.device, seen.inode)
    return seen


def recorded_identity(row: roots.RootRow) -> RootIdentity | None:
    """What the root's path led to when it was last accepted, ``None`` before its first scan."""
    if row.device is None or row.inode is None:
        return None
    return RootIdentity(device=row.device, inode=row.inode)


def _telling(scans: Iterable[DirectoryScan], covered: Callable[[bytes], None]) -> Iterator[DirectoryScan]:
    for one in scans:
        covered(one.directory)
        yield one


def submounts(parts: Parts, plan: RootPlan) -> frozenset[bytes]:
    """Directories of the root on which another file system was mounted at some scan."""
    with parts.ledger.read() as transaction:
        return frozenset(map(b64decode, json.loads(facts.read(transaction, f"submounts:{plan.name}") or "[]")))


def _row(parts: Parts, plan: RootPlan) -> roots.RootRow:
    with parts.ledger.read() as transaction:
        return roots.by_id(transaction, plan.row.id)


def _set_offline(parts: Parts, plan: RootPlan, reason: str) -> None:
    row = _row(parts, plan)
    if (row.state, row.reason) == ("vanished", reason):
        return
    log.warning("root.vanished", root=plan.name, reason=reason)
    with parts.ledger.write("root") as transaction:
        roots.set_state(transaction, plan.row.id, "vanished", reason)


def _apply_all(parts: Parts, plan: RootPlan, scans: Iterable[DirectoryScan], tally: Tally, *, whole: bool) -> None:
    # One moment for the whole scan: what it lost together is weighed together.
    now_ns = parts.clock.wall_ns()
    batch: list[DirectoryScan] = []
    waiting = 0
    notes: dict[str, list[list[str]]] = {}
    mounted: set[bytes] = set()
    ignored: Counter[str] = Counter()
    for one in scans:
        ignored.update(dict(one.ignored_reasons))
        if one.submount:
            mounted.add(one.directory)
        _count(plan, one, tally)
        _note(notes, one)
        changes = _changes(one)
        if changes:
            batch.append(one)
            waiting += changes
        if waiting >= CHANGES_AT_ONCE:
            _apply(parts, plan, batch, now_ns)
            batch, waiting = [], 0
    _apply(parts, plan, batch, now_ns)
    _pair_moves(parts, plan, tally)
    with parts.ledger.write("scanned") as transaction:
        _keep_notes(transaction, plan, notes, whole=whole)
        if mounted:
            # Never forgotten here: while nothing is mounted there, what was in it is not gone.
            known = set(map(b64decode, json.loads(facts.read(transaction, f"submounts:{plan.name}") or "[]")))
            listed = sorted(b64encode(path).decode() for path in known | mounted)
            facts.state(transaction, f"submounts:{plan.name}", json.dumps(listed))
        if whole and not parts.stop.is_set():
            facts.state(transaction, facts.ignored_key(plan.name), json.dumps(ignored, sort_keys=True))
            roots.scanned(transaction, plan.row.id, parts.clock.wall_ns())


def _changes(one: DirectoryScan) -> int:
    difference = one.difference
    return len(difference.added) + len(difference.changed) + len(difference.removed) + len(one.excluded)


def _count(plan: RootPlan, one: DirectoryScan, tally: Tally) -> None:
    if one.unknown is not None:
        tally.leave_unread(plan.row.id, one.directory, one.unknown)
    difference = one.difference
    tally.add("seen", len(difference.added) + len(difference.changed) + difference.unchanged)
    tally.add("unchanged", difference.unchanged)
    tally.add("ignored", one.ignored + len(one.unusual))
    prefix = one.directory + b"/" if one.directory else b""
    for kind, names in (
        ("added", difference.added),
        ("changed", difference.changed),
        ("removed", difference.removed),
    ):
        for name in names:
            tally.touch(kind, plan.row.id, prefix + name)


def _apply(parts: Parts, plan: RootPlan, batch: Collection[DirectoryScan], now: int) -> None:
    if not batch:
        return
    with parts.ledger.write("scan") as transaction:
        for one in batch:
            present = {**one.difference.added, **one.difference.changed}
            if present:
                sightings.seen(transaction, plan.row.id, one.directory, present, now)
            sightings.lost(transaction, plan.row.id, one.directory, tuple(one.difference.removed), now)
            sightings.excluded(transaction, plan.row.id, one.directory, one.excluded, now)


def _pair_moves(parts: Parts, plan: RootPlan, tally: Tally) -> None:
    with parts.ledger.read() as transaction:
        gone = [one for one in sources.in_state(transaction, "gone", root_id=plan.row.id) if _can_have_moved(one)]
        if not gone:
            return
        fresh = [
            one
            for one in sources.in_state(transaction, "pending", root_id=plan.row.id)
            if one.fingerprint is None and one.signature is not None
        ]
    by_path = {one.path: one for one in (*gone, *fresh)}
    removed = {one.path: one.signature for one in gone}
    added: dict[bytes, Signature] = {one.path: one.signature for one in fresh if one.signature is not None}
    pairs = moves(removed, added)
    if pairs:
        with parts.ledger.write("moves") as transaction:
            for old, new in pairs:
                sightings.moved(transaction, by_path[old].id, by_path[new].id)
                if _suffix(old) != _suffix(new):
                    sightings.unhashed(transaction, by_path[new].id)
                tally.touch_move(plan.row.id, old, new)


def _suffix(path: bytes) -> bytes:
    return os.path.splitext(path)[1].lower()  # noqa: PTH122  a path in bytes


def _can_have_moved(source: sources.SourceRow) -> bool:
    return source.fingerprint is not None and source.successor_id is None and source.signature is not None


def _note(notes: dict[str, list[list[str]]], one: DirectoryScan) -> None:
    prefix = one.directory + b"/" if one.directory else b""
    found = [[b64encode(prefix + name).decode(), reason] for name, reason in one.unusual]
    if one.unknown is not None:
        found.append([b64encode(one.directory).decode(), one.unknown])
    notes[b64encode(one.directory).decode()] = found


def _keep_notes(transaction: Transaction, plan: RootPlan, notes: dict[str, list[list[str]]], *, whole: bool) -> None:
    key = f"notes:{plan.name}"
    found = notes if whole else {**json.loads(facts.read(transaction, key) or "{}"), **notes}
    kept = dict([item for item in found.items() if item[1]][:NOTES_KEPT])
    facts.state(transaction, key, json.dumps(kept))
