import pytest

from ingestd.chunk.graphemes import boundary, is_boundary
from ingestd.chunk.windows import trimmed, windows
from tests.unit.chunk.build import chunked, document, utf8

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301", "\r\n", FAMILY, "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\u1100\u1161\u11a8", "\uac00\u11a8",
        "\u0915\u094d\u0937", "\u0e01\u0e33", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\u2764\ufe0f", "\u0600\u0661",
    ],
)  # fmt: skip
def test_a_cluster_is_not_cut(cluster):
    assert not any(is_boundary("x" + cluster + "y", 1 + at) for at in range(1, len(cluster)))
    assert is_boundary("xx" + cluster + "y", 1)
    assert is_boundary("x" + cluster + "yy", len(cluster) + 2)


def test_flags_are_cut_between_pairs():
    flags = "\U0001f1e9\U0001f1ea" * 3
    assert [at for at in range(1, 6) if is_boundary(flags, at)] == [2, 4]


def test_a_boundary_is_sought_on_both_sides():
    assert boundary("ab", 1, 0, 2) == 1
    assert boundary(FAMILY + "x", 3, 0, len(FAMILY) + 1) == len(FAMILY)
    assert boundary("a" + "\u0301" * 5000, 2500, 0, 5001) == 2500


def test_families_at_the_cap_stay_whole():
    made = document(("paragraph", FAMILY * 50))
    result = chunked(made, count=utf8, max_size=40)
    assert all(c.body.count(FAMILY) * len(FAMILY) == len(c.body) for c in result.chunks)
    assert sum(c.body.count(FAMILY) for c in result.chunks) == 50


def test_a_cluster_over_the_cap_is_cut():
    made = document(("paragraph", "a" + "\u0301" * 500))
    result = chunked(made, count=utf8, max_size=40)
    assert all(c.n_tokens <= 40 for c in result.chunks)
    assert "".join(c.body for c in result.chunks) == made.markdown.strip()


def test_windows_hold_all_but_blanks_and_end_at_words():
    text = "alpha beta gamma delta  epsilon zeta eta theta"
    spans = windows(text, 0, len(text), 4)
    assert " ".join(text[a:b] for a, b in spans).split() == text.split()


def test_windows_of_text_without_spaces_end_at_a_pause_where_there_is_one():
    text = "\u4f60\u597d\u5417\u6211\u4eec\uff0c\u8d70\u5427\u4eca\u5929\u5929\u6c14"
    first, *_ = windows(text, 0, len(text), 2)
    assert text[slice(*first)].endswith("\uff0c")


def test_blank_spans_are_trimmed_to_nothing():
    assert trimmed("  \n ", 0, 4) is None
    assert trimmed(" ab ", 0, 4) == (1, 3)
