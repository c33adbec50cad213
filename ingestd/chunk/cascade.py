"""Splits blocks that are over their budget into atoms that are not."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from ingestd.chunk.atoms import BETWEEN_BLOCKS, BETWEEN_PARAGRAPHS, BETWEEN_WORDS, Atom
from ingestd.chunk.levels import COSTS, Level, Spans, levels_of, spans_of
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.windows import windows
from ingestd.chunk.wraps import NO_WRAP, Wrap, wrap
from ingestd.model.document import BlockType

FINENESS = 16
"""Neighbouring pieces are joined up to this part of the budget, so that a choice of cuts stays short."""
_TABULAR = frozenset({BlockType.TABLE, BlockType.CODE})
_QUARTER = 4
_LINES = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A kept block to be split."""

    block: int
    budget: float
    """Most of one atom."""
    goal: float
    """Size that a part of a table or fence, or a run of words, should have."""
    cut: float = BETWEEN_BLOCKS
    """Cost of a cut before the block."""
    lead: str = ""
    """Stands before every part but the first, before its header rows: a caption."""
    room: float = 0.0
    """Most of a part with what stands around it, where that is more than the budget."""


_Leaf = tuple[int, int, int, float]
"""First character, one past the last, tokens, cost of a cut before it: plain, since a megabyte has a hundred thousand."""


@dataclass(slots=True)
class _Piece:
    """A node of the tree that a block is split into."""

    start: int
    end: int
    tokens: int
    cut: float
    levels: tuple[Level, ...]
    goal: float
    budget: float
    wrap: Wrap
    parts: list["_Leaf | _Piece"] = field(default_factory=list["_Leaf | _Piece"])


def split_blocks(manuscript: Manuscript, requests: Sequence[Request]) -> list[tuple[Atom, ...]]:
    """Atoms of each block, in order, each at most its budget by the sum of its tokens.

    All pieces of one fineness are counted in one call. The number of rounds is bounded by the levels and the logarithm
    of the longest text without structure; a piece of one character is never split.
    """
    wraps = [_affordable(manuscript, request) for request in requests]
    roots = [_root(manuscript, request, *found) for request, found in zip(requests, wraps, strict=True)]
    frontier = roots
    while frontier:
        finer = [_finer(manuscript, piece) for piece in frontier]
        markdown = manuscript.markdown
        texts = [markdown[start:end] for spans, _, _ in finer for start, end in spans]
        counts = iter(manuscript.counter.net(texts, int(manuscript.scale.char_cap)))
        over: list[_Piece] = []
        for piece, (spans, cost, levels) in zip(frontier, finer, strict=True):
            _grow(manuscript, piece, zip(spans, counts, strict=False), cost, levels, over)
        frontier = over
    return [
        _atoms(manuscript, request, root, *found) for request, root, found in zip(requests, roots, wraps, strict=True)
    ]


def _affordable(manuscript: Manuscript, request: Request) -> tuple[Wrap, int, int]:
    """The block's wrap with its tokens before and after; none where it would take over a quarter of a part."""
    most = max(request.budget, request.room) / _QUARTER
    found = wrap(manuscript.markdown, manuscript.blocks[request.block])
    for candidate in (replace(found, before=request.lead + found.before), found):
        around = (candidate.before, candidate.after)
        chars = sum(map(len, around))
        if not chars:
            return candidate, 0, 0
        if chars * manuscript.scale.per_char > most:
            continue
        before, after = (tokens + manuscript.scale.joint for tokens in manuscript.counter.net(around, chars))
        if manuscript.scale.size(before + after, chars) <= most:
            return candidate, before, after
    return NO_WRAP, 0, 0


def _root(manuscript: Manuscript, request: Request, around: Wrap, before: int, after: int) -> _Piece:
    block = manuscript.blocks[request.block]
    chars = len(around.before) + len(around.after)
    return _Piece(
        start=block.start,
        end=block.end,
        tokens=manuscript.tokens[request.block],
        cut=request.cut,
        levels=levels_of(block.type),
        goal=request.goal,
        budget=max(request.budget / 2, request.budget - manuscript.scale.size(before + after, chars)),
        wrap=around,
    )


def _finer(manuscript: Manuscript, piece: _Piece) -> tuple[Spans, float, tuple[Level, ...]]:
    """Spans of the piece's parts, the cost of a cut between them, and the levels left for each."""
    for number, level in enumerate(piece.levels, start=1):
        spans = spans_of(level, manuscript.markdown, (piece.start, piece.end), piece.wrap, manuscript.segmenter)
        if len(spans) > 1:
            return spans, COSTS[level], piece.levels[number:]
    goal = min(piece.budget, piece.goal)
    size = manuscript.scale.size(piece.tokens, piece.end - piece.start)
    count = -(-size // goal) if goal > 0 else 2
    spans = windows(manuscript.markdown, piece.start, piece.end, min(int(count), piece.end - piece.start))
    return spans, BETWEEN_WORDS, ()


def _grow(
    manuscript: Manuscript,
    piece: _Piece,
    counted: Iterator[tuple[tuple[int, int], int]],
    cost: float,
    levels: tuple[Level, ...],
    over: list[_Piece],
) -> None:
    """Give the piece its parts; those over the budget go to ``over`` as well."""
    budget, per_token, per_char = piece.budget, manuscript.scale.per_token, manuscript.scale.per_char
    parts = piece.parts
    cut = piece.cut
    for (start, end), tokens in counted:
        if (tokens * per_token > budget or (end - start) * per_char > budget) and end - start > 1:
            part = _Piece(start, end, tokens, cut, levels, piece.goal, budget, piece.wrap)
            parts.append(part)
            over.append(part)
        else:
            parts.append((start, end, tokens, cut))
        cut = cost


def _atoms(
    manuscript: Manuscript, request: Request, root: _Piece, around: Wrap, before: int, after: int
) -> tuple[Atom, ...]:
    """Leaves joined to atoms, with what stands around each part."""
    tabular = manuscript.blocks[request.block].type in _TABULAR
    leaves = _leaves(root)
    closes = _even(manuscript, root, leaves) if tabular else (root.budget / FINENESS, inf)
    joined = _joined(manuscript, root.budget, leaves, *closes)
    block = request.block
    if not (around.before or around.after):
        return tuple(
            [Atom(block=block, start=start, end=end, tokens=tokens, cut=cut) for start, end, tokens, cut in joined]
        )
    if (
        around.after
        and len(joined) > 1
        and not manuscript.markdown[slice(*joined[-1][:2])].strip(around.after + " \t>")
    ):
        # The end of the fence alone says nothing; what was kept free for it in the part before is enough.
        (start, _, tokens, cut), (_, end, _, _) = joined[-2:]
        joined[-2:] = [(start, end, tokens + after, cut)]
    if around.after and len(joined) > 1 and not manuscript.markdown[joined[0][1] : joined[0][1] + 1].strip("\r\n"):
        # Nor does its beginning, when the first line of the code is too long to stand beside it.
        (start, opened, tokens, cut), (_, end, more, _) = joined[:2]
        if len(_LINES.findall(manuscript.markdown, start, opened)) == 1:
            joined[:2] = [(start, end, tokens + more, cut)]
    last = len(joined) - 1
    return tuple(
        Atom(
            block=block,
            start=start,
            end=end,
            tokens=tokens + (before if number else 0) + (after if number < last else 0),
            cut=cut,
            before=around.before if number else "",
            after=around.after if number < last else "",
        )
        for number, (start, end, tokens, cut) in enumerate(joined)
    )


def _even(manuscript: Manuscript, root: _Piece, leaves: Sequence[_Leaf]) -> tuple[float, float]:
    """Size at which a part is closed so that all are alike, and that at which a blank line closes it."""
    goal = min(root.budget, root.goal)
    per_token, per_char = manuscript.scale.per_token, manuscript.scale.per_char
    total = sum([max(tokens * per_token, (end - start) * per_char) for start, end, tokens, _ in leaves])
    each = total / max(1, -(-total // goal)) if goal > 0 else root.budget
    return each, 0.6 * each


def _joined(
    manuscript: Manuscript, budget: float, leaves: Sequence[_Leaf], enough: float, enough_at_blank: float
) -> list[_Leaf]:
    """Neighbours of one paragraph joined up to the budget, until a run has enough."""
    joint, per_token, per_char = manuscript.scale.joint, manuscript.scale.per_token, manuscript.scale.per_char
    joined: list[_Leaf] = []
    start, end, tokens, cut = leaves[0]
    size = max(tokens * per_token, (end - start) * per_char)
    for leaf in leaves[1:]:
        low, high, more, before = leaf
        if (
            before > BETWEEN_PARAGRAPHS
            and size < enough
            and (size < enough_at_blank or manuscript.markdown.count("\n", end, low) < 2)
        ):
            both = tokens + joint + more
            grown = max(both * per_token, (high - start) * per_char)
            if grown <= budget:
                end, tokens, size = high, both, grown
                continue
        joined.append((start, end, tokens, cut))
        start, end, tokens, cut = leaf
        size = max(tokens * per_token, (end - start) * per_char)
    joined.append((start, end, tokens, cut))
    return joined


def _leaves(root: _Piece) -> list[_Leaf]:
    """Leaves in order; the depth of the tree is bounded by no stack of ours."""
    leaves: list[_Leaf] = []
    stack = [iter(root.parts)]
    while stack:
        for part in stack[-1]:
            if isinstance(part, tuple):
                leaves.append(part)
            else:
                stack.append(iter(part.parts))
                break
        else:
            stack.pop()
    return leaves
