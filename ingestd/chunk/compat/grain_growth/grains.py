"""Blocks in reading order into grains: sections are walls, tables stand alone, the rest grows together."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ingestd.chunk.compat.grain_growth.blocks import Block, Read, read, text_of, type_of
from ingestd.chunk.compat.grain_growth.fences import fence
from ingestd.chunk.compat.grain_growth.formulas import BETWEEN, bind, cut_lead, render
from ingestd.chunk.compat.grain_growth.growth import Grain, Growth
from ingestd.chunk.compat.grain_growth.prose import overlapping_pieces, split_lines

DEFAULT_TARGET_CHARS = 1500
"""Characters of body at which a chunk is full."""
DEFAULT_MAX_CHARS = 2000
"""Characters of body over which a block is split."""
FORMULA_LEAD_SENTENCES = 2
"""Sentences that stay with a formula when its paragraph is too long to."""
STANDALONE_TYPES: set[str] = {"caption", "table"}
"""Never in a chunk with other types."""

_FENCE_CHARS = 30
"""Kept free for the bars of a table's part and their label."""


class _Sizes(NamedTuple):
    target: float
    most: float
    lead_sentences: int


def grow(
    blocks: Sequence[Block],
    filename: str,
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
    lead_sentences: int = FORMULA_LEAD_SENTENCES,
) -> tuple[list[Grain], list[Block]]:
    """Chunks with where they come from, then the skipped blocks.

    Parameters
    ----------
    target_chars
        A chunk takes no further block beyond it, unless it would end in the middle of a sentence.
    max_chars
        Paragraphs, list items and tables that are longer are split. No cap: a word, a table's row, a formula or a
        caption may be longer, and so may a piece that repeats a sentence.
    lead_sentences
        Of a paragraph too long to stay with the formula that it leads to, these stay.

    Raises
    ------
    ValueError
        Naming the block or the parameter that is wrong.
    """
    sizes = _Sizes(target_chars, max_chars, lead_sentences)
    _check(blocks, sizes)
    title = _title(blocks) or filename
    kept, skipped = read(blocks)
    growth = Growth(
        title, target=target_chars, most=max_chars or target_chars, chars=sum(len(one.text) for one in kept)
    )
    _grow_all(bind(kept), growth, sizes)
    return growth.grains, skipped


def _check(blocks: object, sizes: _Sizes) -> None:
    if blocks is None or isinstance(blocks, str | bytes):
        raise ValueError(f"blocks must be a list, got {type(blocks).__name__}")
    for name, size in (("target_chars", sizes.target), ("max_chars", sizes.most)):
        if not _is_finite(size):
            raise ValueError(f"{name} must be a number of characters, got {size!r}")
    if not hasattr(sizes.lead_sentences, "__index__"):
        raise ValueError(f"lead_sentences must be an integer, got {sizes.lead_sentences!r}")


def _is_finite(size: float) -> bool:
    try:
        return math.isfinite(size)
    except TypeError:
        return False


def _title(blocks: Sequence[Block]) -> str:
    for at, block in enumerate(blocks):
        if type_of(block, at) == "title":
            return text_of(block, at)
    return ""


def _grow_all(bound: Sequence[Read], growth: Growth, sizes: _Sizes) -> None:
    ahead = iter(range(len(bound)))
    for at in ahead:
        one = bound[at]
        match one.type:
            case "title":
                pass
            case "section":
                growth.flush()
                growth.section = one.heading
            case "bound":
                _add_bound(one.members, growth, sizes)
            case "caption" | "table":
                following = bound[at + 1] if at + 1 < len(bound) else None
                if following and {one.type, following.type} == STANDALONE_TYPES:
                    next(ahead)
                    _emit_standing((one, following), growth, sizes)
                else:
                    _emit_standing((one,), growth, sizes)
            case "formula":
                growth.add(fence("formula", one.text), ("formula",), (one,), is_whole=True)
            case "list":
                _add_items(one, growth, sizes)
            case _:
                _add_paragraph(one, growth, sizes)
    growth.flush()


def _add_paragraph(one: Read, growth: Growth, sizes: _Sizes) -> None:
    if len(one.text) <= sizes.most:
        growth.add(one.text, ("paragraph",), (one,))
        return
    growth.flush()
    for piece, repeated in overlapping_pieces(one.text, sizes.target):
        growth.add(piece, ("paragraph",), (one,), repeated=repeated)


def _add_items(one: Read, growth: Growth, sizes: _Sizes) -> None:
    for line in one.text.split("\n"):
        item = line.strip()
        if len(item) > sizes.most:
            for piece, repeated in overlapping_pieces(item, sizes.target):
                growth.add(piece, ("list",), (one,), repeated=repeated)
        elif item:
            growth.add(item, ("list",), (one,))


def _emit_standing(group: tuple[Read, ...], growth: Growth, sizes: _Sizes) -> None:
    """A table with its caption above each of its parts, or one of them alone."""
    growth.flush()
    types = tuple(one.type for one in group)
    caption = BETWEEN.join(one.text for one in group if one.type == "caption")
    table = BETWEEN.join(one.text for one in group if one.type == "table")
    if not table:
        growth.emit(caption, types, group)
        return
    head = f"{caption}{BETWEEN}" if caption else ""
    room = sizes.most - len(head) - _FENCE_CHARS
    parts = [table] if len(table) <= room else list(split_lines(table, room))
    for number, part in enumerate(parts, start=1):
        repeated = len(head) if number > 1 else 0
        growth.emit(head + fence("table", part, number, len(parts)), types, group, repeated=repeated)


def _add_bound(members: tuple[Read, ...], growth: Growth, sizes: _Sizes) -> None:
    body = render(members)
    if len(body) <= sizes.most:
        growth.add(body, _types(members), members, is_whole=True)
        return
    spill, kept = cut_lead(members, sizes.most, sizes.lead_sentences)
    if spill is not None:
        pieces = [(spill, 0)] if len(spill) <= sizes.most else overlapping_pieces(spill, sizes.target)
        for piece, repeated in pieces:
            growth.add(piece, ("paragraph",), members[:1], is_whole=True, repeated=repeated)
    growth.flush()
    body = render(kept)
    for piece in [body] if len(body) <= sizes.most else split_lines(body, sizes.most):
        growth.add(piece, _types(kept), kept, is_whole=True)
    growth.flush()


def _types(members: tuple[Read, ...]) -> tuple[str, ...]:
    return tuple(one.type for one in members)
