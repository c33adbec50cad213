from ingestd.embed.pace import BATCH_SECONDS, Pace, after_batch, after_shortage


def test_the_budget_follows_the_measured_speed_below_a_quarter_of_a_second():
    pace = after_batch(Pace(ceiling=4096), padded_tokens=512, seconds=0.5)
    assert 0.5 * BATCH_SECONDS <= pace.budget / 1024 <= BATCH_SECONDS


def test_one_slow_batch_does_not_cut_the_budget_to_its_own_speed():
    pace = after_batch(Pace(ceiling=4096), padded_tokens=4000, seconds=1)
    slowed = after_batch(pace, padded_tokens=400, seconds=1)
    assert pace.budget / 2 < slowed.budget < pace.budget


def test_a_fast_device_is_held_by_the_ceiling():
    assert after_batch(Pace(ceiling=1024), padded_tokens=512, seconds=0.001).budget == 1024


def test_the_first_batch_is_small():
    assert Pace(ceiling=100_000).budget == 512


def test_half_of_what_was_too_large_is_the_most_from_then_on():
    pace = after_batch(Pace(ceiling=1024), padded_tokens=512, seconds=0.01)
    assert after_batch(after_shortage(pace, padded_tokens=600), padded_tokens=200, seconds=0.001).budget == 300
