"""What belongs together: captions with what they caption, formulas with the sentence that leads to them."""

from collections.abc import Iterator, Sequence

from ingestd.chunk.atoms import BETWEEN_BLOCKS, BETWEEN_ROWS, BETWEEN_SENTENCES, BOUND, Atom
from ingestd.chunk.cascade import Request, split_blocks
from ingestd.chunk.levels import CLOSERS, ENDINGS, spans_of
from ingestd.chunk.manuscript import Manuscript
from ingestd.chunk.wraps import NO_WRAP
from ingestd.model.document import Block, BlockType

CAPTIONED = frozenset({BlockType.TABLE, BlockType.PICTURE, BlockType.CODE})
LONGEST_LEAD = 4096
"""Characters at the end of a paragraph in which the sentence that leads to a formula is looked for."""


def atoms_of(manuscript: Manuscript, ranges: Sequence[tuple[int, int, float, float]]) -> list[tuple[Atom, ...]]:
    """Atoms of ranges of kept blocks ``(low, high, budget, goal)``, with the cost of the cut before each.

    Blocks over the budget are split; a paragraph before a formula gives up its last sentence to it.
    """
    plans = [list(_plan(manuscript, *each)) for each in ranges]
    requests = [part for plan in plans for part in plan if isinstance(part, Request)]
    split = iter(split_blocks(manuscript, requests))
    found: list[tuple[Atom, ...]] = []
    for plan in plans:
        atoms: list[Atom] = []
        for part in plan:
            atoms.extend(next(split) if isinstance(part, Request) else part)
        found.append(tuple(atoms))
    return found


def block_atom(manuscript: Manuscript, block: int, cut: float = BETWEEN_BLOCKS) -> Atom:
    """The block as one atom."""
    it = manuscript.blocks[block]
    return Atom(block=block, start=it.start, end=it.end, tokens=manuscript.tokens[block], cut=cut)


def _plan(
    manuscript: Manuscript, low: int, high: int, budget: float, goal: float
) -> Iterator[Request | tuple[Atom, ...]]:
    costs = cut_costs(manuscript.blocks[low:high])
    for index in range(low, high):
        block = manuscript.blocks[index]
        cost = costs[index - low]
        if manuscript.scale.size(manuscript.tokens[index], block.end - block.start) > budget:
            lead = _caption(manuscript, index, cost)
            yield Request(block=index, budget=budget, goal=goal, cut=cost, lead=lead)
        elif index + 1 < high and costs[index + 1 - low] == BOUND and block.type is BlockType.PARAGRAPH:
            yield _with_lead(manuscript, index, cost)
        else:
            yield (block_atom(manuscript, index, cost),)


def _caption(manuscript: Manuscript, index: int, cost: float) -> str:
    """Caption right before the block, which each of its parts repeats."""
    before = manuscript.blocks[index - 1]
    if cost < BOUND or before.type is not BlockType.CAPTION:
        return ""
    return manuscript.markdown[before.start : before.end] + "\n\n"


def cut_costs(blocks: Sequence[Block]) -> list[float]:
    """Cost of a cut before each block, by the one before it."""
    costs = [BETWEEN_BLOCKS] * len(blocks)
    partner = captions(blocks)
    for index in range(1, len(blocks)):
        before, block = blocks[index - 1], blocks[index]
        if partner.get(index) == index - 1 or partner.get(index - 1) == index:
            costs[index] = BOUND
        elif BlockType.FORMULA in (before.type, block.type):
            costs[index] = _formula_cost(before, block)
        elif _leads(before):
            costs[index] = BETWEEN_SENTENCES if block.type is BlockType.PARAGRAPH else BETWEEN_ROWS
    return costs


def captions(blocks: Sequence[Block]) -> dict[int, int]:
    """Index of the captioned block by that of its caption.

    A run of captions with tables, pictures or code is paired from its beginning: the order of its first two holds.
    """
    found: dict[int, int] = {}
    index = 0
    while index + 1 < len(blocks):
        kinds = (blocks[index].type, blocks[index + 1].type)
        if kinds[0] is BlockType.CAPTION and kinds[1] in CAPTIONED:
            found[index] = index + 1
            index += 1
        elif kinds[1] is BlockType.CAPTION and kinds[0] in CAPTIONED:
            found[index + 1] = index
            index += 1
        index += 1
    return found


def _formula_cost(before: Block, block: Block) -> float:
    if before.type is BlockType.PARAGRAPH and block.type is BlockType.FORMULA:
        return BOUND if _leads(before) else BETWEEN_SENTENCES
    continues = block.text[:1].islower() or block.text[:1] in ",;."
    if block.type is BlockType.PARAGRAPH and continues:
        return BOUND if block.type is not before.type else BETWEEN_SENTENCES
    return BETWEEN_SENTENCES if before.type is block.type else BETWEEN_BLOCKS


def _leads(block: Block) -> bool:
    """Whether the paragraph ends in mid-sentence."""
    text = block.text[-64:].rstrip().rstrip(CLOSERS)
    return block.type is BlockType.PARAGRAPH and bool(text) and text[-1] not in ENDINGS


def _with_lead(manuscript: Manuscript, index: int, cost: float) -> tuple[Atom, ...]:
    """The paragraph in two, its last sentence apart, when it has more than one."""
    block = manuscript.blocks[index]
    if not _leads(block) or block.end - block.start > LONGEST_LEAD:
        return (block_atom(manuscript, index, cost),)
    spans = spans_of("sentences", manuscript.markdown, (block.start, block.end), NO_WRAP, manuscript.segmenter)
    if len(spans) < 2:
        return (block_atom(manuscript, index, cost),)
    cut = spans[-1][0]
    front = (block.start, spans[-2][1])
    counts = manuscript.counter.net(
        [manuscript.markdown[slice(*front)], manuscript.markdown[cut : block.end]], LONGEST_LEAD
    )
    return (
        Atom(block=index, start=front[0], end=front[1], tokens=counts[0], cut=cost),
        Atom(block=index, start=cut, end=block.end, tokens=counts[1], cut=BETWEEN_SENTENCES),
    )
