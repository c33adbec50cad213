"""Windows of tokens against a slow implementation of the same sums."""

from itertools import pairwise

import numpy as np
import pytest

from ingestd_adapters.sat_windows import hat_weights, newline_logits, probabilities, windows


def slow_windows(count: int) -> list[tuple[int, int]]:
    block, made, start = min(256, count), [], 0
    while True:
        end = start + block
        if end >= count:
            return [*made, (max(count - block, 0), count)]
        made.append((start, end))
        start += 128


def slow_logits(count: int, forward) -> list[float]:
    sums, weights = [np.float16(0)] * count, [np.float16(0)] * count
    block = min(256, count)
    places = np.linspace(-(1 - 1 / block), 1 - 1 / block, block, dtype=np.float16)
    for start, end in slow_windows(count):
        row = forward([np.arange(start, end)])[0]
        for place in range(start, end):
            weight = np.float16(1) - abs(places[place - start])
            sums[place] = np.float16(sums[place] + weight * row[place - start])
            weights[place] = np.float16(weights[place] + weight)
    return [float(one / other) for one, other in zip(sums, weights, strict=True)]


def contextual(some: list[np.ndarray]) -> np.ndarray:
    """Logits that depend on the window, not on the token alone."""
    found = np.zeros((len(some), max(map(len, some))), np.float32)
    for row, tokens in enumerate(some):
        found[row, : len(tokens)] = 5 * np.sin(tokens * 1.3 + tokens[0]) - 1
        found[row, len(tokens) :] = np.nan
    return found


@pytest.mark.parametrize("count", [1, 2, 127, 128, 255, 256, 257, 300, 383, 384, 385, 512, 640, 1000])
def test_logits_are_those_of_the_slow_sums_to_the_last_bit(count):
    found = newline_logits(np.arange(count), [0, count], contextual, 3)
    assert found.dtype == np.float16
    assert found.tolist() == slow_logits(count, contextual)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 384, 385, 2000])
def test_every_token_is_in_a_window_and_the_last_window_ends_with_the_text(count):
    made = windows([0, count])
    assert made == slow_windows(count)
    assert {token for start, end in made for token in range(start, end)} == set(range(count))
    assert made[-1][1] == count


def test_windows_never_cross_texts_and_short_ones_stand_together():
    edges = [0, 300, 300, 310, 900, 1000]
    made = windows(edges)
    assert [end - start for start, end in made] == sorted(end - start for start, end in made)
    for start, end in made:
        assert any(low <= start < end <= high for low, high in pairwise(edges))


@pytest.mark.parametrize("batch", [1, 2, 7, 1000])
def test_texts_together_give_what_each_gives_alone_in_batches_of_any_size(batch):
    edges = [0, 700, 700, 705, 1005]
    calls: list[int] = []

    def forward(some):
        calls.append(len(some))
        return contextual(some)

    together = newline_logits(np.arange(1005), edges, forward, batch)
    for start, end in [(0, 700), (700, 705), (705, 1005)]:
        alone = newline_logits(np.arange(start, end), [0, end - start], contextual, 1)
        assert together[start:end].tolist() == alone.tolist()
    assert max(calls) <= batch


def test_the_number_of_windows_grows_with_the_text():
    counts = [len(windows([0, n])) for n in (10_000, 20_000, 40_000)]
    assert counts[1] - counts[0] == pytest.approx(10_000 / 128, abs=1)
    assert counts[2] - counts[1] == pytest.approx(20_000 / 128, abs=1)


@pytest.mark.parametrize("count", [1, 2, 3, 255, 256])
def test_no_token_weighs_nothing_and_the_middle_weighs_most(count):
    hat = hat_weights(count)
    assert (hat > 0).all()
    assert hat.tolist() == hat[::-1].tolist()
    assert hat.argmax() in {(count - 1) // 2, count // 2}


def test_extreme_logits_are_certain_without_a_warning():
    assert probabilities(np.array([-60000, 0, 60000], np.float16)).tolist() == [0, 0.5, 1]


def test_no_texts_give_nothing():
    assert newline_logits(np.empty(0, np.int64), [0], contextual, 4).tolist() == []
    assert newline_logits(np.empty(0, np.int64), [0, 0], contextual, 4).tolist() == []
