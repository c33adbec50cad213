"""What becomes of each run of blocks: sections are walls, tables stand alone, the rest grows together."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ingestd.chunk.compat.grain_growth.fences import fence
from ingestd.chunk.compat.grain_growth.formulas import BETWEEN, cut_lead, groups, render
from ingestd.chunk.compat.grain_growth.growth import Growth
from ingestd.chunk.compat.grain_growth.prose import overlapping_pieces, split_lines
from ingestd.chunk.compat.grain_growth.reading import Reading, Sources

STANDALONE_TYPES: set[str] = {"caption", "table"}
"""Never in a chunk with other types."""

_FENCE_CHARS = 30
"""Kept free for the bars of a table's part and their label."""

_ITEMS_AT_ONCE = 1000


class Sizes(NamedTuple):
    """Characters at which a chunk is full, those over which a block is split, sentences that stay with a formula."""

    target: float
    most: float
    lead_sentences: int


class _Rows(NamedTuple):
    """What becomes of which blocks."""

    reading: Reading
    growth: Growth
    sizes: Sizes
    ends: dict[int, int]
    """Of groups that are bound, by their start."""


_Way = Callable[[_Rows, int, int], None]


def grow_runs(reading: Reading, growth: Growth, sizes: Sizes) -> None:
    """Grow the chunks of the whole reading, and hand over the last one."""
    ways: list[_Way] = [_WAYS.get(kind, _add_paragraphs) for kind in reading.kinds]
    ends: dict[int, int] = {}
    for start, stop in groups(reading.kinds, reading.texts):
        ends[start] = stop
        ways[start:stop] = [_add_bounds] * (stop - start)
    rows = _Rows(reading, growth, sizes, ends)
    changes = [at for at, (way, following) in enumerate(pairwise(ways), start=1) if way is not following]
    for start, stop in pairwise([0, *changes, len(ways)]):
        if start < stop:
            ways[start](rows, start, stop)
    growth.flush()


def _add_nothing(_rows: _Rows, _start: int, _stop: int) -> None:
    """A title is said in the heading."""


def _begin_section(rows: _Rows, _start: int, stop: int) -> None:
    reading = rows.reading
    is_silent = reading.places[stop - 1] in reading.silent
    rows.growth.begin_section(None if is_silent else reading.texts[stop - 1])


def _add_paragraphs(rows: _Rows, start: int, stop: int) -> None:
    _, texts, pages, places, _, _ = rows.reading
    if stop - start == 1 and len(texts[start]) <= rows.sizes.most:
        rows.growth.add(texts[start], (_PARAGRAPH, (pages[start],), (places[start],)))
        return
    done = start
    for at in map(start.__add__, _too_long(texts[start:stop], rows.sizes)):
        rows.growth.add_run(texts[done:at], "paragraph", pages[done:at], places[done:at])
        rows.growth.flush()
        _add_pieces(texts[at], (_PARAGRAPH, (pages[at],), (places[at],)), rows)
        done = at + 1
    rows.growth.add_run(texts[done:stop], "paragraph", pages[done:stop], places[done:stop])


def _too_long(texts: Sequence[str], sizes: Sizes) -> list[int]:
    if max(map(len, texts)) <= sizes.most:
        return []
    return [at for at, text in enumerate(texts) if len(text) > sizes.most]


def _add_pieces(text: str, sources: Sources, rows: _Rows) -> None:
    for piece, repeated in overlapping_pieces(text, rows.sizes.target):
        rows.growth.add(piece, sources, repeated=repeated)


def _add_formulas(rows: _Rows, start: int, stop: int) -> None:
    _, texts, pages, places, _, _ = rows.reading
    for at in range(start, stop):
        rows.growth.add(fence("formula", texts[at]), (_FORMULA, (pages[at],), (places[at],)), is_whole=True)


def _add_lists(rows: _Rows, start: int, stop: int) -> None:
    texts = rows.reading.texts
    items: list[str] = []
    owners: list[int] = []
    for at in range(start, stop):
        text = texts[at].strip()
        if "\n" in text:
            found = [item for line in text.split("\n") if (item := line.strip())]
            items += found
            owners += [at] * len(found)
        elif text:
            items.append(text)
            owners.append(at)
    for batch in range(0, len(items), _ITEMS_AT_ONCE):
        _add_items(items[batch : batch + _ITEMS_AT_ONCE], owners[batch : batch + _ITEMS_AT_ONCE], rows)


def _add_items(items: Sequence[str], owners: Sequence[int], rows: _Rows) -> None:
    pages = [rows.reading.pages[at] for at in owners]
    places = [rows.reading.places[at] for at in owners]
    done = 0
    for at in _too_long(items, rows.sizes):
        rows.growth.add_run(items[done:at], "list", pages[done:at], places[done:at])
        _add_pieces(items[at], (_LIST, pages[at : at + 1], places[at : at + 1]), rows)
        done = at + 1
    rows.growth.add_run(items[done:], "list", pages[done:], places[done:])


def _emit_standing(rows: _Rows, start: int, stop: int) -> None:
    """Tables, captions, and pairs of them."""
    kinds = rows.reading.kinds
    rows.growth.flush()
    while start < stop:
        is_pair = start + 1 < stop and kinds[start] != kinds[start + 1]
        end = start + 1 + is_pair
        _emit_table(rows.reading.part(start, end), rows.growth, rows.sizes)
        start = end


def _emit_table(group: Reading, growth: Growth, sizes: Sizes) -> None:
    """A table with its caption above each of its parts, or one of them alone."""
    caption, table = (
        BETWEEN.join(text for kind, text in zip(group.kinds, group.texts, strict=True) if kind == wanted)
        for wanted in ("caption", "table")
    )
    sources = group.sources
    if not table:
        growth.emit(caption, sources)
        return
    head = f"{caption}{BETWEEN}" if caption else ""
    room = sizes.most - len(head) - _FENCE_CHARS
    parts = [table] if len(table) <= room else list(split_lines(table, room))
    for number, part in enumerate(parts, start=1):
        repeated = len(head) if number > 1 else 0
        growth.emit(head + fence("table", part, number, len(parts)), sources, repeated=repeated)


def _add_bounds(rows: _Rows, start: int, stop: int) -> None:
    reading = rows.reading
    while start < stop:
        end = rows.ends.get(start, start + 1)
        group = reading.members.get(reading.places[start]) or reading.part(start, end)
        _add_bound(group, rows.growth, rows.sizes)
        start = end


def _add_bound(group: Reading, growth: Growth, sizes: Sizes) -> None:
    body = render(group)
    if len(body) <= sizes.most:
        growth.add(body, group.sources, is_whole=True)
        return
    spill, kept = cut_lead(group, sizes.most, sizes.lead_sentences)
    if spill is not None:
        pieces = [(spill, 0)] if len(spill) <= sizes.most else overlapping_pieces(spill, sizes.target)
        lead = group.part(0, 1).sources
        for piece, repeated in pieces:
            growth.add(piece, lead, is_whole=True, repeated=repeated)
    growth.flush()
    body = render(kept)
    for piece in [body] if len(body) <= sizes.most else split_lines(body, sizes.most):
        growth.add(piece, kept.sources, is_whole=True)
    growth.flush()


_PARAGRAPH, _FORMULA, _LIST = ("paragraph",), ("formula",), ("list",)
_WAYS: dict[str, _Way] = {
    "bound": _add_bounds,
    "caption": _emit_standing,
    "formula": _add_formulas,
    "list": _add_lists,
    "section": _begin_section,
    "table": _emit_standing,
    "title": _add_nothing,
}
"""What is done with a run of blocks, by their type; other types are paragraphs."""
