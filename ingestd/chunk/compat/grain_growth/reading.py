"""Blocks as columns: what is skipped left out, what is not there made good."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from ingestd.chunk.compat.grain_growth.blocks import Block, page_of, text_of, type_of

SKIP_TYPES: set[str] = {"authors", "footnote"}
"""Never in a chunk."""
MIN_FORMULA_CHARS = 10
"""A formula that is shorter, or has no letter, is skipped."""


Sources = tuple[Sequence[str], Sequence[int | None], Sequence[int]]
"""Blocks that a text comes from: their types, their pages, their positions in the input."""


class Reading(NamedTuple):
    """Blocks in order, one row a block."""

    kinds: Sequence[str]
    texts: Sequence[str]
    pages: Sequence[int | None]
    places: Sequence[int]
    """Positions in the input."""
    members: dict[int, "Reading"]
    """Of blocks that came bound, by place."""
    silent: frozenset[int]
    """Places of blocks whose text is None."""

    @property
    def sources(self) -> Sources:
        """What the texts come from."""
        return self.kinds, self.pages, self.places

    def part(self, start: int, stop: int) -> "Reading":
        """A half-open range of rows."""
        return Reading(
            self.kinds[start:stop],
            self.texts[start:stop],
            self.pages[start:stop],
            self.places[start:stop],
            self.members,
            self.silent,
        )


def read(blocks: Iterable[Block]) -> tuple[Reading, list[Block]]:
    """The blocks that go into chunks, then the skipped ones as they came.

    Raises
    ------
    ValueError
        Naming the block: it is no mapping, its type is missing or not hashable, or its text is no string.
    """
    given = list(blocks)
    reading = _columns(given)
    if {"formula", *SKIP_TYPES}.isdisjoint(reading.kinds):
        return reading, []
    kept = [place for place in reading.places if _is_kept(reading.kinds[place], reading.texts[place])]
    if len(kept) == len(given):
        return reading, []
    left = set(kept)
    skipped = [block for place, block in enumerate(given) if place not in left]
    return _rows(reading, kept), skipped


def _columns(given: Sequence[Block]) -> Reading:
    places = range(len(given))
    try:
        kinds = [block["type"] for block in given]
        texts = cast("list[str]", [block["text"] for block in given])
        pages = [block["page"] for block in given]
        is_plain = "bound" not in set(kinds) and {str}.issuperset(map(type, texts))
    except (KeyError, TypeError, IndexError):
        is_plain = False
        kinds, texts, pages = [type_of(block, at) for at, block in enumerate(given)], [], []
    if is_plain:
        return Reading(kinds, texts, pages, places, {}, frozenset())
    texts = ["" if kinds[at] in SKIP_TYPES else text_of(block, at) for at, block in enumerate(given)]
    members = {at: _members(block, at) for at, block in enumerate(given) if kinds[at] == "bound"}
    silent = frozenset(at for at, block in enumerate(given) if block.get("text") is None)
    return Reading(kinds, texts, [page_of(block) for block in given], places, members, silent)


def _members(block: Block, at: int) -> Reading:
    members = block.get("members")
    if not isinstance(members, list) or not members:
        raise ValueError(f"block {at}: a bound block needs its members; use the blocks that bind_formula_groups gives")
    return Reading(
        [type_of(one, at) for one in members],
        [text_of(one, at) for one in members],
        [page_of(one) for one in members],
        [at] * len(members),
        {},
        frozenset(),
    )


def _is_kept(kind: str, text: str) -> bool:
    if kind == "formula":
        return len(text) >= MIN_FORMULA_CHARS and any(map(str.isalpha, text))
    return kind not in SKIP_TYPES


def _rows(reading: Reading, kept: Sequence[int]) -> Reading:
    return reading._replace(
        kinds=[reading.kinds[row] for row in kept],
        texts=[reading.texts[row] for row in kept],
        pages=[reading.pages[row] for row in kept],
        places=kept,
    )
