import os
from dataclasses import replace
from pathlib import Path

import pytest

from ingestd.model.identity import Fingerprint
from ingestd.model.source import Signature
from ingestd.state import outcomes, quarantine, roots, sightings, sources
from ingestd.state.engine import Ledger
from ingestd.state.known import KnownInLedger
from ingestd.state.quarantine import Failure
from ingestd.state.sources import SourceRow

PRINT = Fingerprint("ab" * 32)
FAILURE = Failure(stage="convert", stage_digest="d1", error="CorruptFile", reason="it is corrupt")


def sign(number: int = 1) -> Signature:
    return Signature(size=number, mtime_ns=number, ctime_ns=number, inode=number)


@pytest.fixture
def root(ledger: Ledger) -> int:
    with ledger.write("root") as transaction:
        return roots.record(transaction, "docs", b"/docs", "documents", "configured").id


def see(
    ledger: Ledger, root: int, path: bytes = b"a.md", signature: Signature | None = None, now: int = 5
) -> SourceRow:
    directory, _, name = path.rpartition(b"/")
    with ledger.write("scan") as transaction:
        sightings.seen(transaction, root, directory, {name: signature or sign()}, now)
    return at(ledger, root, path)


def at(ledger: Ledger, root: int, path: bytes = b"a.md") -> SourceRow:
    with ledger.read() as transaction:
        found = sources.by_path(transaction, root, path)
    assert found is not None
    return found


def act(ledger: Ledger, function, *arguments, **more):
    with ledger.write("act") as transaction:
        return function(transaction, *arguments, **more)


def due(ledger: Ledger, root: int, now: int = 100, limit: int = 10) -> list[bytes]:
    with ledger.read() as transaction:
        return [source.path for source in sources.due(transaction, now, limit, [root])]


def removable(ledger: Ledger) -> list[bytes]:
    with ledger.read() as transaction:
        return [source.path for source in sources.removals(transaction)]


@pytest.mark.parametrize(
    "path", [b"a", b"d/e/f", b"d/\xff\xfe", b"line\nbreak", "d/é".encode(), b"\x1b[31m", b"d/'\"%;--"]
)
def test_any_path_comes_back_as_it_was(ledger: Ledger, root: int, path: bytes):
    assert see(ledger, root, path).path == path
    assert due(ledger, root) == [path]


@pytest.mark.parametrize(
    "signature",
    [
        Signature(size=2**62, mtime_ns=0, ctime_ns=0, inode=2**64 - 1),
        Signature(size=0, mtime_ns=-1, ctime_ns=-(2**63), inode=2**63),
        Signature(size=1, mtime_ns=2**63 - 1, ctime_ns=2**63 - 1, inode=2**63 - 1),
    ],
)
def test_any_signature_comes_back_as_it_was(ledger: Ledger, root: int, signature: Signature):
    assert see(ledger, root, signature=signature).signature == signature
    known = KnownInLedger(ledger, root)
    assert known.in_directory(b"") == {b"a.md": signature}
    known.close()


def test_a_file_of_the_year_3000_can_be_kept_and_compared(ledger: Ledger, root: int, tmp_path: Path):
    file = tmp_path / "late"
    file.touch()
    os.utime(file, ns=(32503680000 * 10**9, 32503680000 * 10**9))
    signature = Signature.of(file.stat())
    assert see(ledger, root, signature=signature).signature == signature == Signature.of(file.stat())


def test_a_source_seen_again_is_pending_and_loses_its_fingerprint_unless_it_is_as_it_was(ledger: Ledger, root: int):
    first = replace(see(ledger, root), fingerprint=PRINT, mime="text/plain")
    act(ledger, outcomes.done, first)
    assert (at(ledger, root).state, at(ledger, root).fingerprint) == ("done", PRINT)
    act(ledger, sightings.lost, root, b"", [b"a.md"], 6)
    back = see(ledger, root)
    assert (back.state, back.fingerprint, back.attempts) == ("pending", PRINT, 0)
    changed = see(ledger, root, signature=sign(2))
    assert (changed.state, changed.fingerprint, changed.seq > back.seq) == ("pending", None, True)


def test_a_source_seen_again_leaves_quarantine_and_the_forgotten(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, quarantine.put, source, FAILURE, 1, 9)
    see(ledger, root, signature=sign(2))
    with ledger.read() as transaction:
        assert quarantine.all_quarantined(transaction) == ()
    act(ledger, outcomes.forget, source.id)
    assert due(ledger, root) == []
    see(ledger, root, signature=sign(3))
    assert due(ledger, root) == [b"a.md"]


def test_a_file_that_changed_while_in_work_stays_pending(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, outcomes.claim, [source.id])
    see(ledger, root, signature=sign(2))
    act(ledger, outcomes.done, replace(source, fingerprint=PRINT, mime="text/plain"))
    found = at(ledger, root)
    assert (found.state, found.fingerprint, found.crashes) == ("pending", None, 0)


def test_a_file_that_changed_while_in_work_is_not_quarantined_for_what_it_was(ledger: Ledger, root: int):
    source = see(ledger, root)
    see(ledger, root, signature=sign(2))
    act(ledger, quarantine.put, source, FAILURE, 1, 9)
    with ledger.read() as transaction:
        assert quarantine.all_quarantined(transaction) == ()
    assert due(ledger, root) == [b"a.md"]


def test_a_file_that_changed_while_in_work_does_not_wait_for_what_it_was(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, outcomes.claim, [source.id])
    see(ledger, root, signature=sign(2))
    act(ledger, outcomes.defer, source, 1000, "the store was away")
    assert due(ledger, root, now=100) == [b"a.md"]
    assert at(ledger, root).reason is None


def test_a_file_lost_while_in_work_is_not_brought_back_by_its_outcome(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, sightings.lost, root, b"", [b"a.md"], 6)
    for outcome in (outcomes.done, lambda t, s: outcomes.defer(t, s, 1, "later")):
        act(ledger, outcome, source)
        assert at(ledger, root).state == "gone"
    act(ledger, quarantine.put, source, FAILURE, 1, 9)
    assert at(ledger, root).state == "gone"


def test_a_deferred_source_is_due_when_its_time_has_come(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, outcomes.claim, [source.id])
    act(ledger, outcomes.defer, source, 50, "the store was away")
    assert due(ledger, root, now=49) == []
    assert due(ledger, root, now=50) == [b"a.md"]
    found = at(ledger, root)
    assert (found.attempts, found.crashes, found.reason) == (1, 0, "the store was away")


def test_claims_are_counted_before_the_work_and_taken_back_when_there_was_none(ledger: Ledger, root: int):
    source = see(ledger, root)
    for _ in range(2):
        act(ledger, outcomes.claim, [source.id])
    assert (at(ledger, root).attempts, at(ledger, root).crashes) == (2, 2)
    act(ledger, outcomes.unclaim, [source.id])
    assert (at(ledger, root).attempts, at(ledger, root).crashes) == (1, 1)
    for _ in range(3):
        act(ledger, outcomes.unclaim, [source.id])
    assert (at(ledger, root).attempts, at(ledger, root).crashes) == (0, 0)


def test_what_was_in_work_at_a_crash_comes_last(ledger: Ledger, root: int):
    first = see(ledger, root, b"1")
    for path in (b"2", b"3"):
        see(ledger, root, path)
    act(ledger, outcomes.claim, [first.id])
    assert due(ledger, root) == [b"2", b"3", b"1"]
    assert due(ledger, root, limit=2) == [b"2", b"3"]


def test_only_sources_of_the_roots_asked_for_are_due(ledger: Ledger, root: int):
    with ledger.write("root") as transaction:
        other = roots.record(transaction, "other", b"/other", "documents", "configured").id
    see(ledger, root, b"here")
    see(ledger, other, b"there")
    assert due(ledger, other) == [b"there"]
    with ledger.read() as transaction:
        assert sources.due(transaction, 100, 10, []) == ()


def test_a_second_look_that_differs_is_remembered_and_counts_as_a_change(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, outcomes.claim, [source.id])
    act(ledger, sightings.look_again, source, sign(2), 77)
    found = at(ledger, root)
    assert (found.signature, found.looked_ns, found.attempts, found.crashes) == (sign(2), 77, 0, 0)
    act(ledger, outcomes.done, source)
    assert at(ledger, root).state == "pending"


def test_what_is_lost_is_due_for_removal_and_what_is_held_is_not_until_confirmed(ledger: Ledger, root: int):
    for path in (b"1", b"2", b"d/3"):
        see(ledger, root, path)
    act(ledger, sightings.lost, root, b"", [b"1"], 6)
    act(ledger, sightings.hold, [at(ledger, root, b"2").id], "mass-removal")
    act(ledger, sightings.excluded, root, b"d", [b"3"], 6)
    assert removable(ledger) == [b"1"]
    with ledger.read() as transaction:
        assert sources.count_kept(transaction, root) == 0
    assert act(ledger, sightings.confirm, root) == 2
    assert removable(ledger) == [b"1", b"2", b"d/3"]
    assert [at(ledger, root, path).confirmed for path in (b"1", b"2", b"d/3")] == [False, True, True]


def test_a_root_taken_out_is_held_but_not_what_was_confirmed_before(ledger: Ledger, root: int):
    for path in (b"1", b"2"):
        see(ledger, root, path)
    act(ledger, sightings.hold_root, root, "detached")
    assert removable(ledger) == []
    act(ledger, sightings.confirm, root)
    # The next start holds the detached root again, before the removal was done.
    act(ledger, sightings.hold_root, root, "detached")
    assert removable(ledger) == [b"1", b"2"]


def test_a_root_confirmed_to_be_gone_lets_everything_go(ledger: Ledger, root: int):
    for path in (b"1", b"2", b"3"):
        see(ledger, root, path)
    act(ledger, sightings.lost, root, b"", [b"1"], 6)
    act(ledger, sightings.all_gone, root, 8)
    act(ledger, sightings.confirm, root)
    assert removable(ledger) == [b"1", b"2", b"3"]


def test_a_moved_file_keeps_its_fingerprint_and_its_old_path_waits_for_the_new_one(ledger: Ledger, root: int):
    old = see(ledger, root, b"old")
    act(ledger, outcomes.done, replace(old, fingerprint=PRINT, mime="text/plain"))
    act(ledger, sightings.lost, root, b"", [b"old"], 6)
    new = see(ledger, root, b"new")
    act(ledger, sightings.moved, old.id, new.id)
    moved = at(ledger, root, b"new")
    assert (moved.fingerprint, moved.mime) == (PRINT, "text/plain")
    assert removable(ledger) == []
    act(ledger, outcomes.done, moved)
    assert removable(ledger) == [b"old"]


def test_an_old_path_whose_successor_is_dropped_is_an_ordinary_removal(ledger: Ledger, root: int):
    old, new = see(ledger, root, b"old"), see(ledger, root, b"new")
    act(ledger, sightings.lost, root, b"", [b"old", b"new"], 6)
    act(ledger, sightings.moved, old.id, new.id)
    act(ledger, outcomes.drop, new.id)
    assert at(ledger, root, b"old").successor_id is None
    assert removable(ledger) == [b"old"]


def test_only_a_source_that_is_gone_is_dropped(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, outcomes.drop, source.id)
    assert at(ledger, root).id == source.id
    act(ledger, sightings.lost, root, b"", [b"a.md"], 6)
    act(ledger, outcomes.drop, source.id)
    with ledger.read() as transaction:
        assert sources.by_path(transaction, root, b"a.md") is None


def test_what_is_marked_is_worked_on_again_and_out_of_quarantine(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, quarantine.put, source, FAILURE, 1, 9)
    act(ledger, outcomes.mark_pending, [source.id])
    assert due(ledger, root) == [b"a.md"]
    with ledger.read() as transaction:
        assert quarantine.all_quarantined(transaction) == ()


@pytest.mark.parametrize("leave", ["gone", "held", "forgotten"])
def test_what_is_gone_held_or_forgotten_is_not_marked(ledger: Ledger, root: int, leave: str):
    source = see(ledger, root)
    if leave == "gone":
        act(ledger, sightings.lost, root, b"", [b"a.md"], 6)
    elif leave == "held":
        act(ledger, sightings.hold, [source.id], "mass-removal")
    else:
        act(ledger, outcomes.forget, source.id)
    act(ledger, outcomes.mark_pending, [source.id])
    assert at(ledger, root).state == leave


def test_a_source_that_only_the_store_knew_is_adopted_once(ledger: Ledger, root: int):
    first = act(ledger, sightings.adopt, root, b"d/\xff", 9)
    assert act(ledger, sightings.adopt, root, b"d/\xff", 10) == first
    found = at(ledger, root, b"d/\xff")
    assert (found.signature, found.state, found.looked_ns) == (None, "done", 9)
    known = see(ledger, root, b"known")
    assert act(ledger, sightings.adopt, root, b"known", 9) == known.id
    assert at(ledger, root, b"known").state == "pending"


def test_a_source_known_under_every_state_is_found_by_it(ledger: Ledger, root: int):
    one, two = see(ledger, root, b"1"), see(ledger, root, b"2")
    act(ledger, outcomes.done, one)
    with ledger.read() as transaction:
        assert [s.path for s in sources.in_state(transaction, "done")] == [b"1"]
        assert [s.path for s in sources.in_state(transaction, "done", "pending", root_id=root)] == [b"1", b"2"]
        assert sources.in_state(transaction, "pending", root_id=root + 1) == ()
        assert [s.id for s in sources.by_ids(transaction, [two.id, 999, one.id])] == [two.id, one.id]


def test_a_failure_is_kept_with_its_stage_and_replaced_by_the_next(ledger: Ledger, root: int):
    source = see(ledger, root, b"d/\xff")
    act(ledger, outcomes.hashed, replace(source, fingerprint=PRINT, mime="x"))
    act(ledger, quarantine.put, source, FAILURE, 2, 9)
    with ledger.read() as transaction:
        (row,) = quarantine.all_quarantined(transaction)
    assert (row.source_id, row.root, row.path, row.failure) == (source.id, "docs", b"d/\xff", FAILURE)
    assert (row.attempts, row.since_ns) == (2, 9)
    act(ledger, outcomes.mark_pending, [source.id])
    other = replace(FAILURE, reason="worse")
    act(ledger, quarantine.put, at(ledger, root, b"d/\xff"), other, 1, 10)
    with ledger.read() as transaction:
        assert [row.failure for row in quarantine.all_quarantined(transaction)] == [other]


def test_the_same_bytes_fail_again_only_in_the_same_stage_of_the_same_identity(ledger: Ledger, root: int):
    source = see(ledger, root)
    act(ledger, outcomes.hashed, replace(source, fingerprint=PRINT, mime="x"))
    act(ledger, quarantine.put, source, FAILURE, 1, 9)
    with ledger.read() as transaction:
        assert quarantine.known_failure(transaction, PRINT, "d1") == FAILURE
        assert quarantine.known_failure(transaction, PRINT, "d2") is None
        assert quarantine.known_failure(transaction, Fingerprint("cd" * 32), "d1") is None
    act(ledger, outcomes.mark_pending, [source.id])
    embed = replace(FAILURE, stage="embed")
    act(ledger, quarantine.put, at(ledger, root), embed, 1, 9)
    with ledger.read() as transaction:
        assert quarantine.known_failure(transaction, PRINT, "d1") is None
