"""The compat profile of grain-growth beside the published package: the same, block list for block list."""

from itertools import pairwise
from random import Random
from types import ModuleType
from typing import Any

import pytest

from ingestd.chunk.compat import grain_growth
from tests.unit.chunk.compat.grain_growth.generated import KINDS, Case, case, text

FAST = 1_000
SLOW = 30_000
SLICE = 3_000
SKIPPED = {"authors", "footnote", "title", "section"}


@pytest.fixture(scope="module")
def package() -> ModuleType:
    return pytest.importorskip("grain_growth")


def as_lists(outcome: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> Any:
    """With the order of keys."""
    chunks, skipped = outcome
    rows = [
        [*chunk, chunk["text"], chunk["body"], [*chunk["metadata"], *chunk["metadata"].values()]] for chunk in chunks
    ]
    return rows, skipped


def differs(package: ModuleType, one: Case) -> bool:
    ours = grain_growth.chunk_document(one.blocks, one.filename, **one.sizes)
    try:
        theirs = package.chunk_document(one.blocks, one.filename, **one.sizes)
    except TypeError:
        # It cannot order a page that is None.
        return all(block["page"] is not None for block in one.blocks)
    return as_lists(ours) != as_lists(theirs)


def text_differs(package: ModuleType, sample: str) -> list[str]:
    unary = "split_sentences strip_fences fences_balanced has_fence starts_inside_fence starts_cleanly ends_cleanly"
    different = [
        name for name in unary.split() if getattr(grain_growth, name)(sample) != getattr(package, name)(sample)
    ]
    different += [
        f"split_long_text {target}"
        for target in (-1, 0, 7, 30.5, 100, 1500)
        if grain_growth.split_long_text(sample, target) != package.split_long_text(sample, target)
    ]
    return different + [
        f"fence {part} {of}"
        for part, of in ((None, None), (1, 3), (2, 1), (None, 2), (3, 0))
        if grain_growth.fence("table", sample, part, of) != package.fence("table", sample, part, of)
    ]


def test_chunks_are_those_of_the_package(package):
    assert [seed for seed in range(FAST) if differs(package, case(seed))] == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, SLOW, SLICE))
def test_all_chunks_are_those_of_the_package(package, start):
    assert [seed for seed in range(start, start + SLICE) if differs(package, case(seed))] == []


def test_chunks_are_those_of_the_package_at_every_size(package):
    bound = [
        {"type": "paragraph", "text": "It is one. It is two. It is three. It holds that", "page": 0},
        {"type": "formula", "text": "a = b + c + d", "page": 1},
        {"type": "paragraph", "text": "where a is b.", "page": 1},
        {"type": "caption", "text": "Table 1.", "page": 2},
        {"type": "table", "text": "\n\n| a | b |\n\n| c |\n| dd | e |", "page": 2},
        {"type": "list", "text": "one is it. Two.\n\n three", "page": 2},
    ]
    for blocks in (bound, *(case(seed).blocks[:6] for seed in range(5, 8))):
        for most in range(1, 150):
            for target in (most, most // 2):
                assert not differs(package, Case(blocks, "f", {"target_chars": target, "max_chars": most}))


def test_long_runs_are_cut_where_the_package_cuts_them(package):
    draw = Random("runs")
    texts = [draw.choice(["", " ", "It is.", "it holds", "x" * 40, "Long. " * 60]) for _ in range(3000)]
    for kind in ("paragraph", "list", "code"):
        blocks = [{"type": kind, "text": text, "page": at} for at, text in enumerate(texts)]
        joined = [{"type": kind, "text": "\n".join(texts), "page": 7}, *blocks[:400]]
        for sizes in ({}, {"target_chars": 20, "max_chars": 300}, {"target_chars": 10**6, "max_chars": 10**6}):
            assert not differs(package, Case(blocks, "f", sizes))
            assert not differs(package, Case(joined, "f", sizes))


def test_functions_of_a_text_are_those_of_the_package(package):
    assert {seed: found for seed in range(700) if (found := text_differs(package, text(seed)))} == {}


@pytest.mark.slow
def test_functions_of_all_texts_are_those_of_the_package(package):
    assert {seed: found for seed in range(SLOW) if (found := text_differs(package, text(seed)))} == {}


def test_bound_groups_are_those_of_the_package(package):
    for seed in range(400):
        blocks = [block for block in case(seed).blocks if block["text"] is not None]
        ours, theirs = grain_growth.bind_formula_groups(blocks), package.bind_formula_groups(blocks)
        assert ours == theirs
        assert [list(block) for block in ours] == [list(block) for block in theirs]
        # What it bound can be given back to it, and then it is not bound again.
        if all(block["page"] is not None for block in blocks):
            assert not differs(package, Case(ours, "paper", {"target_chars": 60, "max_chars": 90}))


def test_problems_are_those_of_the_package(package):
    values: list[Any] = [None, "", "text", 3, -1, True, 1.5, b"x", *KINDS[:3], "heading"]
    blocks: list[Any] = [
        {"type": kind, "text": said, "page": page} for kind in values for said in values for page in values
    ]
    blocks += [{}, None, 7, "block", ("type", "list"), {"type": "list"}, {"page": 1}]
    for given in (blocks, tuple(blocks), blocks[:1], [], None, "blocks", {}, iter(())):
        ours = grain_growth.validate_blocks(given, strict=False)
        assert ours == package.validate_blocks(given, strict=False)
        if ours:
            with pytest.raises(ValueError, match="invalid blocks") as refused:
                grain_growth.validate_blocks(given)
            with pytest.raises(ValueError, match="invalid blocks") as refused_there:
                package.validate_blocks(given)
            assert str(refused.value) == str(refused_there.value)


def test_constants_and_names_are_those_of_the_package(package):
    for name in package.__all__:
        value = getattr(package, name)
        if not callable(value):
            assert getattr(grain_growth, name) == value
    assert set(package.__all__) <= {*grain_growth.__all__, "__version__"}


def test_where_a_chunk_comes_from_is_true_of_every_chunk():
    for seed in range(300):
        one = case(seed)
        grains, skipped = grain_growth.grow(one.blocks, one.filename, **one.sizes)
        covered = {place for grain in grains for place in range(grain.start, grain.stop)}
        for place, block in enumerate(one.blocks):
            if block["type"] in SKIPPED or block in skipped:
                continue
            assert place in covered or not (block["text"] or "").strip()
        for grain in grains:
            pages = [one.blocks[place]["page"] for place in range(grain.start, grain.stop)]
            assert grain.page_start in pages
            assert grain.page_end in pages
            assert 0 <= grain.start < grain.stop <= len(one.blocks)


def test_what_a_chunk_repeats_is_in_the_chunk_before():
    repeating = 0
    for seed in range(300):
        one = case(seed)
        grains, _ = grain_growth.grow(one.blocks, one.filename, **one.sizes)
        for before, grain in pairwise(grains):
            if not grain.repeated:
                continue
            repeating += 1
            again = grain.body[: grain.repeated]
            assert before.body.startswith(again) if "table" in grain.types else before.body.endswith(again)
    assert repeating > 100
