"""Batches and pace, for every input."""

from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import given

from ingestd.embed.batches import batches, longest_first
from ingestd.embed.pace import Pace, after_batch, after_shortage

COUNTS = st.lists(st.integers(0, 600), max_size=200)
BUDGETS = st.integers(1, 2048)
ROWS = st.integers(1, 64)


@given(COUNTS, BUDGETS, ROWS)
def test_every_text_is_in_exactly_one_batch(counts, budget, rows):
    positions = [at for batch in batches(counts, token_budget=budget, max_rows=rows) for at in batch]
    assert sorted(positions) == list(range(len(counts)))


@given(COUNTS, BUDGETS, ROWS)
def test_a_batch_holds_its_budget_unless_it_is_a_lone_text(counts, budget, rows):
    for batch in batches(counts, token_budget=budget, max_rows=rows):
        assert 1 <= len(batch) <= rows
        assert len(batch) == 1 or len(batch) * max(counts[at] for at in batch) <= budget


@given(COUNTS, BUDGETS, ROWS)
def test_no_row_is_padded_to_more_than_twice_its_length(counts, budget, rows):
    for batch in batches(counts, token_budget=budget, max_rows=rows):
        assert 2 * min(counts[at] for at in batch) >= max(counts[at] for at in batch)


@given(COUNTS, BUDGETS, ROWS)
def test_no_batch_could_have_taken_the_first_row_of_the_next(counts, budget, rows):
    made = list(batches(counts, token_budget=budget, max_rows=rows))
    for batch, after in pairwise(made):
        longest, more = counts[batch[0]], counts[after[0]]
        assert len(batch) == rows or (len(batch) + 1) * max(longest, 1) > budget or 2 * more < longest


@given(COUNTS)
def test_longer_texts_come_first_and_equals_keep_their_order(counts):
    order = longest_first(counts)
    assert list(order) == sorted(order, key=lambda at: (-counts[at], at))


@given(BUDGETS, st.lists(st.tuples(st.integers(1, 4096), st.floats(0, 1e4)), max_size=30))
def test_the_pace_stays_between_one_token_and_its_ceiling(ceiling, measured):
    pace = Pace(ceiling=ceiling)
    for tokens, seconds in measured:
        pace = after_batch(pace, padded_tokens=tokens, seconds=seconds)
        assert 1 <= pace.budget <= ceiling


@given(BUDGETS, st.integers(2, 4096))
def test_shortages_lead_to_lone_texts_in_a_dozen_steps(ceiling, padded):
    pace = Pace(ceiling=ceiling)
    for _ in range(12):
        pace = after_shortage(pace, padded_tokens=min(padded, pace.budget))
    assert pace.budget == 1
