"""Splits blocks that are over their budget into atoms that are not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingestd.chunk.atoms import BETWEEN_BLOCKS, BETWEEN_WORDS, Atom
from ingestd.chunk.levels import COSTS, Level, levels_of, spans_of
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.windows import windows
from ingestd.chunk.wraps import NO_WRAP, Wrap, wrap
from ingestd.model.document import BlockType

FINENESS = 16
"""Neighbouring pieces are joined up to this part of the budget, so that a choice of cuts stays short."""
_TABULAR = frozenset({BlockType.TABLE, BlockType.CODE})
_QUARTER = 4


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


@dataclass(slots=True)
class _Piece:
    """A node of the tree that a block is split into."""

    start: int
    end: int
    cut: float
    levels: tuple[Level, ...]
    request: Request
    wrap: Wrap
    budget: float
    tokens: int = 0
    parts: list["_Piece"] = field(default_factory=list["_Piece"])


def split_blocks(manuscript: Manuscript, requests: Sequence[Request]) -> list[tuple[Atom, ...]]:
    """Atoms of each block, in order, each at most its budget by the sum of its tokens.

    All pieces of one fineness are counted in one call. The number of rounds is bounded by the levels and the logarithm
    of the longest text without structure; a piece of one character is never split.
    """
    wraps = [_affordable(manuscript, request) for request in requests]
    roots = [_root(manuscript, request, *found) for request, found in zip(requests, wraps, strict=True)]
    frontier = roots
    while frontier:
        for piece in frontier:
            piece.parts = _finer(manuscript, piece)
        parts = [part for piece in frontier for part in piece.parts]
        texts = [manuscript.markdown[part.start : part.end] for part in parts]
        counts = manuscript.counter.net(texts, int(manuscript.scale.char_cap))
        for part, tokens in zip(parts, counts, strict=True):
            part.tokens = tokens
        frontier = [part for part in parts if part.end - part.start > 1 and _size(manuscript, part) > part.budget]
    return [tuple(_atoms(manuscript, root, *tokens)) for root, (_, *tokens) in zip(roots, wraps, strict=True)]


def _affordable(manuscript: Manuscript, request: Request) -> tuple[Wrap, int, int]:
    """The block's wrap with its tokens before and after; none where it would take over a quarter of the budget."""
    found = wrap(manuscript.markdown, manuscript.blocks[request.block])
    for candidate in (replace(found, before=request.lead + found.before), found):
        around = (candidate.before, candidate.after)
        chars = sum(map(len, around))
        if not chars:
            return candidate, 0, 0
        if chars * manuscript.scale.per_char > request.budget / _QUARTER:
            continue
        before, after = (tokens + manuscript.scale.joint for tokens in manuscript.counter.net(around, chars))
        if manuscript.scale.size(before + after, chars) <= request.budget / _QUARTER:
            return candidate, before, after
    return NO_WRAP, 0, 0


def _root(manuscript: Manuscript, request: Request, around: Wrap, before: int, after: int) -> _Piece:
    block = manuscript.blocks[request.block]
    chars = len(around.before) + len(around.after)
    return _Piece(
        start=block.start,
        end=block.end,
        cut=request.cut,
        levels=levels_of(block.type),
        request=request,
        wrap=around,
        budget=request.budget - manuscript.scale.size(before + after, chars),
        tokens=manuscript.tokens[request.block],
    )


def _finer(manuscript: Manuscript, piece: _Piece) -> list[_Piece]:
    for number, level in enumerate(piece.levels, start=1):
        spans = spans_of(level, manuscript.markdown, (piece.start, piece.end), piece.wrap, manuscript.segmenter)
        if len(spans) > 1:
            return _parts(piece, spans, COSTS[level], piece.levels[number:])
    goal = min(piece.budget, piece.request.goal)
    count = -(-_size(manuscript, piece) // goal) if goal > 0 else 2
    spans = windows(manuscript.markdown, piece.start, piece.end, min(int(count), piece.end - piece.start))
    return _parts(piece, spans, BETWEEN_WORDS, ())


def _parts(piece: _Piece, spans: Sequence[tuple[int, int]], cost: float, levels: tuple[Level, ...]) -> list[_Piece]:
    return [
        _Piece(
            start=start,
            end=end,
            cut=cost if number else piece.cut,
            levels=levels,
            request=piece.request,
            wrap=piece.wrap,
            budget=piece.budget,
        )
        for number, (start, end) in enumerate(spans)
    ]


def _size(manuscript: Manuscript, piece: _Piece) -> float:
    return manuscript.scale.size(piece.tokens, piece.end - piece.start)


def _atoms(manuscript: Manuscript, root: _Piece, before: int, after: int) -> Iterator[Atom]:
    """Leaves joined to atoms, with what stands around each part."""
    block = root.request.block
    tabular = manuscript.blocks[block].type in _TABULAR
    joined = list(_joined(manuscript, root, _even(manuscript, root) if tabular else _fine(root)))
    last = len(joined) - 1
    for number, (start, end, tokens, cut) in enumerate(joined):
        yield Atom(
            block=block,
            start=start,
            end=end,
            tokens=tokens + (before if number else 0) + (after if number < last else 0),
            cut=cut,
            before=root.wrap.before if number else "",
            after=root.wrap.after if number < last else "",
        )


_Closes = Callable[[float, int, int], bool]
"""Whether an atom of the size, which ends at the first offset, is closed before a piece that begins at the second."""


def _fine(root: _Piece) -> _Closes:
    least = root.budget / FINENESS
    return lambda size, _end, _start: size >= least


def _even(manuscript: Manuscript, root: _Piece) -> _Closes:
    """Parts of like size, which end at a blank line where one is near."""
    goal = min(root.budget, root.request.goal)
    total = sum(_size(manuscript, leaf) for leaf in _leaves(root))
    each = total / max(1, -(-total // goal)) if goal > 0 else root.budget

    def closes(size: float, end: int, start: int) -> bool:
        if size >= each:
            return True
        return size >= 0.6 * each and manuscript.markdown.count("\n", end, start) > 1

    return closes


def _joined(manuscript: Manuscript, root: _Piece, closes: _Closes) -> Iterator[tuple[int, int, int, float]]:
    joint = manuscript.scale.joint
    start, end, tokens, cut = -1, -1, 0, 0.0
    for leaf in _leaves(root):
        if start >= 0:
            size = manuscript.scale.size(tokens, end - start)
            grown = manuscript.scale.size(tokens + joint + leaf.tokens, leaf.end - start)
            if grown <= root.budget and not closes(size, end, leaf.start):
                end, tokens = leaf.end, tokens + joint + leaf.tokens
                continue
            yield start, end, tokens, cut
        start, end, tokens, cut = leaf.start, leaf.end, leaf.tokens, leaf.cut
    yield start, end, tokens, cut


def _leaves(piece: _Piece) -> Iterator[_Piece]:
    if not piece.parts:
        yield piece
        return
    stack = [iter(piece.parts)]
    while stack:
        part = next(stack[-1], None)
        if part is None:
            stack.pop()
        elif part.parts:
            stack.append(iter(part.parts))
        else:
            yield part
