from collections.abc import Sequence

from ingestd.embed.beginnings import beginnings


def letters(texts: Sequence[str]) -> list[int]:
    """A token for each character, and two special ones."""
    return [2 + len(text) for text in texts]


def test_what_fits_is_left_as_it_is() -> None:
    assert beginnings(["", "abc", "x" * 8], letters, 10) == ["", "abc", "x" * 8]


def test_of_what_does_not_fit_as_much_as_possible_is_left() -> None:
    made = beginnings(["abcdefghijk", "ok", "x" * 1000], letters, 10)
    assert made == ["abcdefgh", "ok", "x" * 8]


def test_a_single_character_is_taken_to_fit() -> None:
    assert beginnings(["ab", "a"], lambda texts: [99 for _ in texts], 10) == ["a", "a"]


def test_the_counter_is_asked_for_many_texts_at_once() -> None:
    calls: list[int] = []

    def counting(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return letters(texts)

    beginnings(["y" * 4000] * 50, counting, 512)
    assert len(calls) < 15
