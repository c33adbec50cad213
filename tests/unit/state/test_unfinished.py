"""A pass that finds nothing to do must not read a row for each file that is served."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

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


def test_the_next_sources_that_are_due_are_found_without_sorting_all_that_are(ledger: Ledger):
    with ledger.read() as transaction:
        with statements(transaction) as seen:
            sources.due(transaction, 5, 3, [1], after=(False, 7))
        assert "USE TEMP B-TREE FOR ORDER BY" not in plan_of(transaction, seen[0])


@pytest.mark.parametrize("seed", range(5))
def test_sources_are_due_by_id_and_those_that_crashed_last(ledger: Ledger, seed: int):
    draw = Random(seed)
    with ledger.write("scan") as transaction:
        ids = [roots.record(transaction, name, b"/" + name.encode(), "c", "configured").id for name in "abc"]
        roots.set_state(transaction, ids[2], "vanished", "unmounted")
        for number in range(60):
            transaction.exec_driver_sql(
                "INSERT INTO source(root_id, directory, name, looked_ns, state, crashes, not_before_ns) "
                "VALUES(?, x'', ?, 1, ?, ?, ?)",
                (
                    draw.choice(ids),
                    str(number).encode(),
                    draw.choice(["pending", "pending", "pending", "done", "held"]),
                    draw.choice([0, 0, 1, 2]),
                    draw.choice([0, 0, 5, 99]),
                ),
            )
        rows = transaction.exec_driver_sql(
            "SELECT crashes > 0, id FROM source WHERE state = 'pending' AND not_before_ns <= 10 AND root_id IN (?, ?) "
            "ORDER BY 1, 2",
            (ids[0], ids[1]),
        ).all()
        expected = [(bool(crashed), id_) for crashed, id_ in rows]
        for after in [(False, 0), *expected]:
            for limit in (1, 4, 60):
                found = sources.due(transaction, 10, limit, [*ids[:2], ids[2]], after=after)
                assert [(one.crashes > 0, one.id) for one in found] == [one for one in expected if one > after][:limit]
