"""Paragraphs and lists of a PDF made whole again, where lines, columns and pages cut them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingestd.convert.render import Piece
from ingestd.model.document import BlockType

_ENDS = re.compile(r"[.!?:;][\"'\u201d\u2019)\]]*$")
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+(?=\S)")
_SHORT_REST = 400
"""Of a paragraph that goes on over a page, the next page gives at most so many characters to the first."""


def merged_lists(pieces: Sequence[Piece]) -> list[Piece]:
    """Items that follow each other as one list; a list that goes on over a page is one list with its first page."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if (
            piece.type is BlockType.LIST
            and last is not None
            and last.type is BlockType.LIST
            and last.page == piece.page
        ):
            merged[-1] = replace(last, items=(*last.items, *piece.items), bbox=around([last, piece]))
        else:
            merged.append(piece)
    return merged


def joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Paragraphs that were cut in mid-sentence by a line, a column or a page are made whole.

    Over a page only the end of the sentence is taken, or a short rest: all else keeps its own page.
    Furniture between the parts comes after them.
    """
    held: Piece | None = None
    between: list[Piece] = []
    for piece in pieces:
        rest: Piece | None = piece
        if held is not None and piece.type is BlockType.FURNITURE:
            between.append(piece)
            continue
        if held is not None and piece.type is BlockType.PARAGRAPH and _goes_on(held, piece):
            taken, rest = _taken(held, piece)
            held = _join(held, taken) if taken else held
        if rest is None:
            continue
        if held is not None:
            yield held
        yield from between
        between = []
        held = rest if rest.type is BlockType.PARAGRAPH else None
        if held is None:
            yield rest
    if held is not None:
        yield held
    yield from between


def _goes_on(before: Piece, after: Piece) -> bool:
    if (after.page or 0) - (before.page or 0) > 1 or _ENDS.search(before.text):
        return False
    return after.text[0].islower() and len(before.text) > 40


def _taken(before: Piece, after: Piece) -> tuple[Piece | None, Piece | None]:
    """What of the second part joins the first, and what is left."""
    if before.page == after.page:
        return after, None
    end = _SENTENCE_END.search(after.text, 0, _SHORT_REST)
    if end is None:
        return (after, None) if len(after.text) <= _SHORT_REST else (None, after)
    return replace(after, text=after.text[: end.end()].strip()), replace(after, text=after.text[end.end() :].strip())


def _join(before: Piece, after: Piece) -> Piece:
    """One piece of two: a hyphen that parts a word goes, one before a capital stays."""
    if before.text.endswith("-") and before.text[-2:-1].isalpha():
        text = before.text[:-1] + after.text
    else:
        text = f"{before.text} {after.text}"
    bbox = around([before, after]) if before.page == after.page else before.bbox
    return replace(before, text=text, bbox=bbox)


def around(pieces: Sequence[Piece]) -> tuple[float, float, float, float] | None:
    """The box around the pieces that have one."""
    boxes = [piece.bbox for piece in pieces if piece.bbox is not None]
    if not boxes:
        return None
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
