import pytest

from ingestd.chunk import (
    CHUNKERS,
    GRAIN_GROWTH_VERSION,
    STRUCTURE_FIRST_VERSION,
    ChunkOptions,
    Sizes,
    chunk_stage,
    sizes_of,
)
from ingestd_adapters.punctuation_segmenter import punctuation
from tests.unit.chunk.build import chunked, document, sentences, utf8, words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "semantic"}, "name must be one of structure-first, grain-growth; got 'semantic'"),
        ({"profile": "classic"}, "profile must be one of native, compat; got 'classic'"),
        ({"unit": "bytes"}, "unit must be one of tokens, chars; got 'bytes'"),
        ({"max_size": 15}, "max_size must be at least 16; got 15"),
        ({"max_size": 63, "unit": "chars"}, "max_size must be at least 64; got 63"),
        ({"max_size": 100, "target_size": 101}, "target_size must be from 1 to 100; got 101"),
        ({"max_size": 100, "target_size": 0}, "target_size must be from 1 to 100; got 0"),
        ({"max_size": 100, "min_size": -1}, "min_size must be from 0 to"),
        ({"max_size": 100, "target_size": 50, "min_size": 51}, "min_size must be from 0 to 50; got 51"),
    ],
)
def test_an_option_out_of_its_range_is_named_with_its_value(options, message):
    with pytest.raises(ValueError, match=message):
        sizes_of(ChunkOptions(**options))


def test_sizes_not_given_keep_their_proportion_to_those_given():
    default = sizes_of(ChunkOptions())
    double = sizes_of(ChunkOptions(max_size=2 * default.max_size))
    assert abs(double.target_size - 2 * default.target_size) <= 2
    assert sizes_of(ChunkOptions(target_size=double.target_size)).max_size >= double.target_size
    assert sizes_of(ChunkOptions(max_size=300, target_size=200, min_size=9)) == Sizes(
        max_size=300, target_size=200, min_size=9
    )


def test_a_limit_without_room_for_text_is_refused():
    with pytest.raises(ValueError, match="max_tokens must be at least 16; got 15"):
        chunked(document(("paragraph", "x")), max_tokens=15)
    with pytest.raises(ValueError, match="twice the special ones"):
        chunked(document(("paragraph", "x")), count=lambda texts: [12 + len(t) for t in texts], max_tokens=16)


def test_a_counter_that_loses_texts_is_refused():
    with pytest.raises(ValueError, match="count gave 1 counts for"):
        chunked(document(("paragraph", "x")), count=lambda _: [3])


def test_a_character_over_the_cap_is_refused_by_its_place():
    with pytest.raises(ValueError, match="below the 1000 that the tokenizer gives the text at character"):
        chunked(
            document(("paragraph", "some bad text")), count=lambda ts: [1000 if "b" in t else 2 + len(t) for t in ts]
        )


def test_a_segmenter_that_loses_text_is_refused():
    class Losing:
        name = "losing/1"

        def split(self, text):
            return [text[:-1]]

    from ingestd.chunk import chunk

    with pytest.raises(ValueError, match="segmenter losing/1"):
        chunk(document(("paragraph", sentences(99))), ChunkOptions(), words, Losing(), max_tokens=512)


@pytest.mark.parametrize("name", sorted(CHUNKERS))
def test_sizes_in_characters_hold_for_the_text_and_the_tokens_too(name):
    made = document(("h1", "T"), ("paragraph", sentences(80)), ("code", "x = 1\n" * 300))
    result = chunked(made, name=name, unit="chars", max_size=400)
    assert all(len(c.text) <= 400 for c in result.chunks)
    assert sum(len(c.body) for c in result.chunks) > 200 * len(result.chunks)
    tight = chunked(made, name=name, unit="chars", max_size=4000, count=utf8, max_tokens=128)
    assert all(c.n_tokens <= 128 for c in tight.chunks)
    assert sum(c.n_tokens for c in tight.chunks) > 64 * len(tight.chunks)


def test_the_embedders_limit_bounds_a_larger_size():
    made = document(("paragraph", sentences(80)))
    assert all(c.n_tokens <= 64 for c in chunked(made, max_size=400, max_tokens=64).chunks)


def test_the_stage_holds_all_that_can_move_a_boundary():
    stage = chunk_stage(ChunkOptions(), punctuation().name, "abc", 512)
    assert (stage.name, stage.version) == ("structure-first", STRUCTURE_FIRST_VERSION)
    assert chunk_stage(ChunkOptions(name="grain-growth"), "s/1", "abc", 512).version == GRAIN_GROWTH_VERSION
    assert dict(stage.options) == {
        "profile": "native",
        "unit": "tokens",
        "max_size": sizes_of(ChunkOptions()).max_size,
        "target_size": sizes_of(ChunkOptions()).target_size,
        "min_size": sizes_of(ChunkOptions()).min_size,
        "max_tokens": 512,
        "segmenter": "punctuation/1",
        "tokenizer": "abc",
    }
    same = chunk_stage(ChunkOptions(max_size=sizes_of(ChunkOptions()).max_size), punctuation().name, "abc", 512)
    assert same.digest == stage.digest
    others = {
        chunk_stage(ChunkOptions(max_size=99), punctuation().name, "abc", 512).digest,
        chunk_stage(ChunkOptions(), "sentencex-en/1", "abc", 512).digest,
        chunk_stage(ChunkOptions(), punctuation().name, "abd", 512).digest,
        chunk_stage(ChunkOptions(), punctuation().name, "abc", 256).digest,
    }
    assert len(others | {stage.digest}) == 5


def test_the_stage_of_an_unknown_chunker_is_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        chunk_stage(ChunkOptions(name="x"), "s/1", "abc", 512)
