"""When to try again."""

import pytest

from ingestd.pipeline.backoff import FIRST_SECONDS, LONGEST_SECONDS, delay_seconds
from ingestd.pipeline.tally import Tally


def test_the_delay_grows_to_a_bound_and_is_never_under_half_of_its_step() -> None:
    shortest = [delay_seconds(attempts, lambda: 0.0) for attempts in range(1, 60)]
    longest = [delay_seconds(attempts, lambda: 0.999999) for attempts in range(1, 60)]
    assert shortest == sorted(shortest)
    assert shortest[0] == FIRST_SECONDS / 2
    assert max(longest) <= LONGEST_SECONDS
    assert all(2 * short >= long for short, long in zip(shortest, longest, strict=True))


def test_a_source_counts_once_and_a_move_is_neither_a_removal_nor_an_addition() -> None:
    tally = Tally()
    for _ in range(2):
        tally.touch("removed", 1, b"old")
        tally.touch("added", 1, b"new")
    tally.touch_move(1, b"old", b"new")
    assert {name: len(touched) for name, touched in tally.touched.items()} == {"removed": 0, "added": 0, "moved": 1}
    tally.touch("removed", 1, b"other")
    tally.untouch("removed", 1, b"other")
    tally.untouch("never", 1, b"other")
    assert not tally.touched["removed"]
    tally.forget_touched()
    assert tally.touched == {}


def test_time_is_counted_even_where_the_work_fails() -> None:
    tally = Tally()
    with pytest.raises(ZeroDivisionError), tally.timed("convert"):
        _ = 1 / 0
    assert tally.seconds["convert"] >= 0
    assert "convert" in tally.seconds
