import numpy as np
import pytest

from ingestd.chunk.compat.structure_first import (
    UnsplittableDocumentError,
    ValidationError,
    precomputed_segmenter,
    punctuation_segmenter,
    segmenters,
    split_sentences,
)
from ingestd.chunk.compat.structure_first.sentence_cuts import _among, _anywhere, _worthwhile


def _split(text: str, *lengths: int | None, known: object = None) -> list[str]:
    return split_sentences(text, *lengths, known_boundary_probas=known, segmenter=punctuation_segmenter)  # type: ignore[arg-type]


def test_nothing_and_white_space_have_no_sentences() -> None:
    assert _split("") == []
    assert _split(" \n\u2028") == []


def test_a_short_document_is_one_sentence_even_over_the_most_length() -> None:
    assert _split("abcd", 4, 2) == ["abcd"]


def test_white_space_goes_with_the_sentence_before() -> None:
    assert _split("Hello there.  \n You are! Fine") == ["Hello there.  \n ", "You are! ", "Fine"]


def test_headings_are_kept_together_and_apart() -> None:
    assert _split("Text before\n# A. heading. here\nText after") == [
        "Text before\n",
        "# A. heading. here\n",
        "Text after",
    ]


def test_a_heading_of_three_characters_at_the_end_is_no_sentence() -> None:
    assert _split("Some text\n\n# A") == ["Some text\n\n# A"]


def test_known_probabilities_overrule_where_they_are_finite() -> None:
    known = [float("nan")] * 11
    known[5] = 1.0
    known[10] = float("inf")
    assert _split("abc def ghi", 1, known=known) == ["abc de", "f ghi"]
    assert _split("abc def ghi", 1, known=lambda _text: known) == ["abc de", "f ghi"]


def test_without_a_least_length_probabilities_are_not_heard() -> None:
    assert _split("a. b. c. d", 0) == ["a. b. c. d"]
    assert _split("a. b. c. d", 0, 4) == ["a.", " b. ", "c. d"]


def test_a_segmenters_vector_is_left_alone() -> None:
    given = np.array([0.0, 0.0, 0.0, 0.9, 0.0, 0.0, 5.0, 0.0])
    split_sentences("abc def ", 1, segmenter=precomputed_segmenter(given))
    assert given.tolist() == [0.0, 0.0, 0.0, 0.9, 0.0, 0.0, 5.0, 0.0]


def test_the_punctuation_segmenter_asks_for_white_space_or_the_end() -> None:
    assert segmenters.punctuation()("a.b. c?\u3000d!").tolist() == [0, 0, 0, 0.9, 0, 0, 0.9, 0, 0, 0.9]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _split("abcdef", -1), "min_len must be non-negative"),
        (lambda: _split("abcdef", 4, 0), "max_len must be positive when set"),
        (lambda: _split("abcdef", known=[0.5]), r"known_boundary_probas has shape \(1,\); expected \(6,\)"),
        (lambda: split_sentences("abcdef", segmenter=lambda _: [0.5]), r"segmenter returned shape \(1,\)"),
        (lambda: split_sentences("abcdef", segmenter=lambda _: [float("nan")] * 6), "segmenter returned .*NaN"),
        (lambda: split_sentences("abcdef"), "segmenter is missing"),
    ],
)
def test_what_cannot_be_used_is_named(call: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message) as raised:
        call()  # type: ignore[operator]
    assert isinstance(raised.value, ValueError)


def test_lengths_that_no_pieces_have_are_refused() -> None:
    with pytest.raises(UnsplittableDocumentError, match="min_len, max_len"):
        _split("abcdefghi", 6, 7)


@pytest.mark.parametrize("seed", range(200))
def test_both_ways_to_the_best_cuts_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 120))
    drawn = rng.choice([0.0, 0.1, 0.25, 0.5, 0.9], size=size) if seed % 2 else rng.random(size)
    least, most = int(rng.integers(1, 6)), int(rng.integers(20, 130))
    ends = _worthwhile(drawn, least, most)
    if ends is not None:
        assert _among(ends, drawn, least, most) == _anywhere(drawn, least, most)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_cuts_of_all_are_those_of_the_plain_recurrence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 90))
    drawn = rng.choice([0.0, 0.0, 0.1, 0.25, 0.5, 0.9], size=size) if seed % 3 else rng.random(size)
    least = int(rng.integers(1, 6))
    most = int(rng.integers(2 * least, 40))
    assert _anywhere(drawn, least, most) == _plain(drawn.tolist(), least, most)


def _plain(probabilities: list[float], least: int, most: int) -> list[int]:
    size = len(probabilities)
    best = [0.0] + [-np.inf] * size
    before = [0] * (size + 1)
    for end in range(least, size + 1):
        starts = range(max(0, end - most), end - least + 1)
        before[end] = max(starts, key=lambda start: best[start])
        best[end] = best[before[end]] + (probabilities[end - 1] - 0.25 if end < size else 0.0)
    cuts = [size]
    while before[cuts[-1]]:
        cuts.append(before[cuts[-1]])
    return cuts[::-1]
