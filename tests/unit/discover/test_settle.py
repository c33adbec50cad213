from ingestd.discover.settle import Settling
from ingestd.model.source import Signature

SECOND = 1_000_000_000
NOW_NS = 1_700_000_000 * SECOND


def signature(size: int, mtime_ns: int = 0) -> Signature:
    return Signature(size=size, mtime_ns=mtime_ns, ctime_ns=0, inode=1)


def test_two_equal_looks_far_enough_apart_settle_a_file():
    settling = Settling[str](2.0)
    assert not settling.look("a", signature(1), 10.0, NOW_NS)
    assert settling.next_due() == 12.0
    assert settling.due(11.9) == ()
    assert settling.due(12.0) == ("a",)
    assert settling.look("a", signature(1), 12.0, NOW_NS)
    assert len(settling) == 0
    assert settling.next_due() is None


def test_two_equal_looks_too_near_do_not_settle_a_file():
    settling = Settling[str](2.0)
    settling.look("a", signature(1), 10.0, NOW_NS)
    assert not settling.look("a", signature(1), 11.0, NOW_NS)
    assert settling.look("a", signature(1), 12.0, NOW_NS)


def test_a_change_starts_the_wait_anew():
    settling = Settling[str](2.0)
    settling.look("a", signature(1), 10.0, NOW_NS)
    assert not settling.look("a", signature(2), 12.0, NOW_NS)
    assert not settling.look("a", signature(2), 13.0, NOW_NS)
    assert settling.look("a", signature(2), 14.0, NOW_NS)


def test_a_file_written_a_moment_ago_waits_for_its_age():
    settling = Settling[str](2.0)
    settling.look("a", signature(1, NOW_NS), 10.0, NOW_NS + SECOND // 2)
    assert not settling.look("a", signature(1, NOW_NS), 12.0, NOW_NS + SECOND)
    assert settling.next_due() == 13.0
    assert settling.look("a", signature(1, NOW_NS), 13.0, NOW_NS + 2 * SECOND)


def test_a_modification_time_in_the_future_is_not_waited_for():
    settling = Settling[str](2.0)
    tomorrow = NOW_NS + 86_400 * SECOND
    settling.look("a", signature(1, tomorrow), 10.0, NOW_NS)
    assert settling.look("a", signature(1, tomorrow), 12.0, NOW_NS)


def test_a_wall_clock_that_jumps_back_delays_nothing():
    settling = Settling[str](2.0)
    settling.look("a", signature(1, NOW_NS), 10.0, NOW_NS)
    assert settling.look("a", signature(1, NOW_NS), 12.0, NOW_NS - 86_400 * SECOND)


def test_a_file_that_keeps_changing_is_never_given_up_and_looked_at_more_rarely():
    settling = Settling[str](2.0)
    now, looks = 0.0, 0
    while now < 3600:
        settling.look("log", signature(looks), now, NOW_NS)
        looks += 1
        due = settling.next_due()
        assert due is not None
        assert now < due <= now + 20
        now = due
    assert looks < 250
    assert settling.due(now) == ("log",)
    settling.look("log", signature(looks), now, NOW_NS)
    assert settling.look("log", signature(looks), now + 2, NOW_NS)


def test_a_file_that_changed_for_some_seconds_is_not_waited_for_much_longer():
    settling = Settling[str](1.0)
    for step in range(17):
        settling.look("a", signature(step), step * 0.3, NOW_NS)
    assert settling.next_due() == 16 * 0.3 + 0.25 * 16 * 0.3


def test_a_key_handed_out_comes_again_until_it_is_looked_at_or_forgotten():
    settling = Settling[str](2.0)
    settling.look("a", signature(1), 0.0, NOW_NS)
    assert settling.due(2.0) == ("a",)
    assert settling.due(2.0) == ()
    assert settling.due(4.0) == ("a",)
    settling.forget("a")
    assert settling.due(9.0) == ()
    assert "a" not in settling


def test_keys_come_in_the_order_of_their_time():
    settling = Settling[str](2.0)
    settling.look("late", signature(1), 1.0, NOW_NS)
    settling.look("early", signature(1), 0.0, NOW_NS)
    assert settling.due(5.0) == ("early", "late")


def test_no_waiting_time_takes_a_file_at_once():
    assert Settling[str](0.0).look("a", signature(1), 0.0, NOW_NS)
