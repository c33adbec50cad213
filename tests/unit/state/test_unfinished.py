"""A pass that finds nothing to do must not read a row for each file that is served."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ingestd.model.source import Signature
from ingestd.state import outcomes, report, roots, sightings, sources
from ingestd.state.engine import Ledger, Transaction, driver


@contextmanager
def statements(transaction: Transaction) -> Iterator[list[str]]:
    seen: list[str] = []
    driver(transaction).set_trace_callback(seen.append)
    try:
        yield seen
    finally:
        driver(transaction).set_trace_callback(None)


def plan_of(transaction: Transaction, statement: str) -> list[str]:
    return [str(row[3]) for row in driver(transaction).execute(f"EXPLAIN QUERY PLAN {statement}")]


@pytest.mark.parametrize(
    "question",
    [
        sources.count_pending,
        sources.removals,
        lambda transaction: sources.due(transaction, 5, 1, [1]),
        lambda transaction: sources.next_settling(transaction, 5, [1]),
        lambda transaction: sources.in_state(transaction, "quarantined"),
        outcomes.make_due,
        lambda transaction: report.deferred(transaction, 5),
        report.held,
        report.held_count,
    ],
)
def test_what_is_unfinished_is_found_without_reading_what_is_done(
    ledger: Ledger, question: Callable[[Transaction], object]
):
    with ledger.write("ask") as transaction:
        with statements(transaction) as seen:
            question(transaction)
        plans = [step for statement in seen for step in plan_of(transaction, statement)]
    assert any("source_unfinished" in step for step in plans)
    assert not any(step.startswith("SCAN source") for step in plans)


def test_removals_of_a_root_that_vanished_are_counted_once(ledger: Ledger):
    with ledger.write("scan") as transaction:
        root = roots.record(transaction, "docs", b"/docs", "documents", "configured").id
        for name in (b"a", b"b", b"c"):
            sightings.seen(transaction, root, b"", {name: Signature(size=1, mtime_ns=1, ctime_ns=1, inode=1)}, 5)
        held = sources.by_path(transaction, root, b"a")
        assert held is not None
        sightings.hold(transaction, [held.id], "mass")
        sightings.lost(transaction, root, b"", [b"c"], 6)
        assert report.held_count(transaction) == 1
        roots.set_state(transaction, root, "vanished", "unmounted")
        assert report.held_count(transaction) == 2


def test_only_sources_that_are_still_pending_are_worked_on(ledger: Ledger):
    with ledger.write("scan") as transaction:
        root = roots.record(transaction, "docs", b"/docs", "documents", "configured").id
        for name in (b"a", b"b"):
            sightings.seen(transaction, root, b"", {name: Signature(size=1, mtime_ns=1, ctime_ns=1, inode=1)}, 5)
        one, two = (sources.by_path(transaction, root, name) for name in (b"a", b"b"))
        assert one is not None
        assert two is not None
        outcomes.forget(transaction, one.id)
        assert sources.still_pending(transaction, [one.id, two.id, 99]) == {two.id}
        assert sources.still_pending(transaction, []) == frozenset()
