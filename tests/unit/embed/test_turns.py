import threading

import pytest

from ingestd.embed.turns import Turns

PATIENCE = 20


def until(condition):
    deadline = threading.Event()
    for _ in range(PATIENCE * 1000):
        if condition():
            return
        deadline.wait(0.001)
    raise AssertionError("it never came")


def started(target):
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def test_a_query_goes_ahead_of_batches_that_waited_longer():
    turns, order = Turns(), []

    def batch():
        with turns.batch():
            order.append("batch")

    def query():
        with turns.query():
            order.append("query")

    with turns.batch():
        threads = [started(batch), started(batch), started(query)]
        until(lambda: turns._queries == 1)
    for thread in threads:
        thread.join(PATIENCE)
    assert order == ["query", "batch", "batch"]


def test_one_turn_is_had_at_a_time():
    turns, inside, most = Turns(), [], []

    def work(turn):
        for _ in range(50):
            with turn():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [started(lambda turn=turn: work(turn)) for turn in (turns.batch, turns.query, turns.batch, turns.query)]
    for thread in threads:
        thread.join(PATIENCE)
    assert max(most) == 1
    assert len(most) == 200


def test_an_owner_in_a_hurry_is_told_that_the_turn_is_taken():
    turns = Turns()
    with turns.batch(), turns.within(0) as had:
        assert not had
    with turns.within(0) as had:
        assert had
    with turns.batch():
        pass


def test_a_turn_that_ends_in_an_error_is_given_back():
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.batch():
        1 / 0  # noqa: B018 - any error will do
    with turns.within(0) as had:
        assert had
