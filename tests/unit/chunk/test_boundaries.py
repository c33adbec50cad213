"""Two ways to cut one document, compared."""

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingestd.chunk.boundaries import Change, Comparison, compare
from ingestd.model.chunk import Chunk

TEXT = "".join(chr(97 + n % 26) for n in range(200))


def chunk(index: int, start: int, end: int, text: str | None = None) -> Chunk:
    body = TEXT[start:end] if text is None else text
    return Chunk(
        text=body,
        body=body,
        title="t",
        char_start=start,
        char_end=end,
        index=index,
        n_chars=len(body),
        n_tokens=len(body),
    )


def tiles(*cuts: int) -> list[Chunk]:
    return [chunk(n, start, end) for n, (start, end) in enumerate(itertools.pairwise(cuts))]


def spans(change: Change) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    before, after = ([(each.char_start, each.char_end) for each in side] for side in (change.before, change.after))
    return before, after


def test_the_same_chunks_differ_in_nothing() -> None:
    found = compare(tiles(0, 10, 30, 60), tiles(0, 10, 30, 60))
    assert found.same
    assert (found.kept, found.moved, found.new, found.gone, found.boundaries) == (3, 0, 0, 0, (4, 4, 4))


def test_a_moved_boundary_changes_the_two_chunks_beside_it() -> None:
    found = compare(tiles(0, 10, 20, 30, 40, 50), tiles(0, 10, 24, 30, 40, 50))
    assert [spans(change) for change in found.changes] == [([(10, 20), (20, 30)], [(10, 24), (24, 30)])]
    assert (found.changes[0].kept_before, found.kept, found.new, found.gone) == (1, 3, 2, 2)
    assert (found.texts_to_embed, found.tokens_to_embed, found.boundaries) == (2, 20, (6, 6, 5))


def test_changes_end_where_no_chunk_reaches_across() -> None:
    found = compare(tiles(0, 10, 20, 40), tiles(0, 20, 30, 40))
    assert [spans(change) for change in found.changes] == [
        ([(0, 10), (10, 20)], [(0, 20)]),
        ([(20, 40)], [(20, 30), (30, 40)]),
    ]


def test_chunks_that_overlap_are_kept_beside_others_that_change() -> None:
    before = [chunk(0, 0, 12), chunk(1, 10, 22), chunk(2, 20, 30), chunk(3, 40, 50)]
    after = [chunk(0, 0, 12), chunk(1, 10, 22), chunk(2, 20, 26), chunk(3, 26, 30), chunk(4, 40, 50)]
    found = compare(before, after)
    assert [spans(change) for change in found.changes] == [([(20, 30)], [(20, 26), (26, 30)])]
    assert found.kept == 3


def test_the_same_place_with_another_text_is_a_change() -> None:
    found = compare([chunk(0, 0, 9, "# A\n\nx")], [chunk(0, 0, 9, "# A > B\n\nx")])
    assert (found.kept, found.new, found.gone, found.boundaries) == (0, 1, 1, (2, 2, 2))


def test_a_text_at_another_place_is_moved_and_costs_nothing() -> None:
    found = compare([chunk(0, 0, 9, "x"), chunk(1, 9, 12, "y")], [chunk(0, 0, 8, "x"), chunk(1, 8, 12, "y")])
    assert (found.kept, found.moved, found.new, found.gone, found.texts_to_embed) == (0, 2, 0, 0, 0)


def test_a_text_that_is_new_twice_is_embedded_once() -> None:
    found = compare([], [chunk(0, 0, 9, "same"), chunk(1, 9, 18, "same")])
    assert (found.new, found.texts_to_embed, found.tokens_to_embed) == (2, 1, 4)


def test_texts_alone_are_compared_across_two_markdown_texts() -> None:
    before, after = [chunk(0, 0, 3, "a"), chunk(1, 3, 6, "b")], [chunk(0, 0, 5, "new"), chunk(1, 5, 8, "b")]
    found = compare(before, after, same_markdown=False)
    assert [spans(change) for change in found.changes] == [([(0, 3)], [(0, 5)])]
    assert (found.kept, found.boundaries) == (1, None)


def test_chunks_that_changed_places_are_not_both_kept() -> None:
    table, text = chunk(0, 50, 60), chunk(1, 0, 10)
    found = compare([table, text], [text, table])
    assert (found.kept, found.moved, found.new) == (1, 1, 0)


chunks = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8), st.sampled_from("ab")), max_size=12).map(
    lambda found: [chunk(n, start, start + length, text) for n, (start, length, text) in enumerate(found)]
)


@given(before=chunks, after=chunks, same_markdown=st.booleans())
def test_every_chunk_is_kept_or_in_one_change(before: list[Chunk], after: list[Chunk], same_markdown: bool) -> None:
    found = compare(before, after, same_markdown=same_markdown)
    assert sorted(_indices(found, "before")) == sorted(set(_indices(found, "before")))
    assert sorted(_indices(found, "after")) == sorted(set(_indices(found, "after")))
    assert found.kept + len(_indices(found, "before")) == len(before)
    assert found.kept + len(_indices(found, "after")) == len(after)
    assert found.kept + found.moved + found.new == len(after)
    assert sum(change.kept_before for change in found.changes) <= found.kept
    assert compare(before, before, same_markdown=same_markdown).same


def _indices(found: Comparison, side: str) -> list[int]:
    changes: Sequence[Sequence[Chunk]] = [getattr(change, side) for change in found.changes]
    return [each.index for change in changes for each in change]


def test_a_hundred_thousand_chunks_are_compared() -> None:
    count = 100_000
    before = [chunk(n, n * 10, n * 10 + 10, str(n)) for n in range(count)]
    # Every place is another: one change that spans the document.
    after = [chunk(n, max(0, n * 10 - 3), n * 10 + 7, str(n)) for n in range(count)]
    found = compare(before, after)
    assert (found.kept, found.moved, len(found.changes)) == (0, count, 1)
