"""Segmenters give back every text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestd_adapters.punctuation_segmenter import punctuation
from ingestd_adapters.sentencex_segmenter import sentencex

_PARTS = [
    "a",
    "B",
    ".",
    "! ",
    "? ",
    "\n",
    "\r",
    "\n\n",
    " ",
    "No. ",
    "e.g. ",
    "\u3002",
    "\u300d",
    "\0",
    "\ud800",
    "\u200d",
]
ANY_TEXT = st.lists(st.sampled_from(_PARTS) | st.characters(), max_size=120).map("".join)


@pytest.mark.parametrize(
    "segmenter", [punctuation(), sentencex(), sentencex("de"), sentencex("zh")], ids=lambda s: s.name
)
@settings(max_examples=80, deadline=None)
@given(text=ANY_TEXT, times=st.integers(1, 3) | st.just(200))
def test_sentences_joined_are_the_text(segmenter, text, times):
    sentences = segmenter.split(text * times)
    assert "".join(sentences) == text * times
    assert all(sentences)
