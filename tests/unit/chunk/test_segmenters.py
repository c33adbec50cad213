import pytest

from ingestd.errors import ConfigurationError
from ingestd.registry import factory
from ingestd_adapters.punctuation_segmenter import punctuation
from ingestd_adapters.sentencex_segmenter import sentencex


def split(segmenter, text: str) -> list[str]:
    sentences = segmenter.split(text)
    assert "".join(sentences) == text
    assert all(sentences)
    return [sentence.strip() for sentence in sentences]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("See Fig. 3 of Smith et al. for it. Dr. J. Smith said so, e.g. this.", 2),
        ("It is on p. 5 of vol. 2. See No. 7, cf. Eq. 3 and Mrs. Jones.", 2),
        ("No. He did not. We went.", 3),
        ('"Stop." Then he went. Why? Because!', 4),
        ("Приветствую мир. Это тест.", 2),
        ("Élan vital. Été comme hiver.", 2),
        ("你好。我们走吧！好的？是", 4),
        ("मैं घर जा रहा हूँ। वह आ रही है।", 2),
    ],
)
def test_sentencex_ends_sentences_where_they_end(text, sentences):
    assert len(split(sentencex(), text)) == sentences


def test_sentencex_keeps_what_its_engine_drops_or_refuses():
    assert split(sentencex(), "a b.\n\n\n\n\nC d.\n\n\n") == ["a b.", "C d."]
    assert split(sentencex(), "One \ud800 here. Two.") == ["One \ud800 here.", "Two."]
    assert split(sentencex(), "") == []
    assert split(sentencex(), "\n" * 7) == [""]
    assert split(sentencex(), "a\rb\x00. C d.")
    assert split(sentencex(), "So said A\u00a0. Then he went.") == ["So said A\u00a0.", "Then he went."]
    assert split(sentencex(), "So said A \u2028\u2028. \ud800") == ["So said A \u2028\u2028. \ud800"]


def test_sentencex_reads_long_texts_in_windows():
    text = "这是一个句子。" * 3000 + "Here is one. " * 3000 + "x" * 9000
    assert len(split(sentencex(), text)) == 6001


def test_sentencex_takes_a_language():
    assert sentencex("de").name == "sentencex-de/2"
    with pytest.raises(ConfigurationError, match="'english language' is no ISO 639 code"):
        sentencex("english language")


def test_punctuation_splits_after_closing_marks():
    assert split(punctuation(), 'He said "Stop." Then 3.5 left. OK') == ['He said "Stop."', "Then 3.5 left.", "OK"]
    assert split(punctuation(), "你好。走吧！好？」是") == ["你好。", "走吧！", "好？」", "是"]
    assert split(punctuation(), "") == []


def test_both_are_registered():
    assert factory("segmenters", "sentencex")().name == "sentencex-en/2"
    assert factory("segmenters", "punctuation")().name == "punctuation/1"


@pytest.mark.parametrize("unit", ["x", "\u8bed", "word ", "\U0001f468\u200d\U0001f469"])
def test_a_text_without_sentences_is_one_sentence_whatever_its_length(unit: str):
    assert sentencex().split(unit * 9_000) == [unit * 9_000]
    assert len(sentencex().split("It is so. " + unit * 9_000 + ". It was so.")) == 3
