"""A document laid out for a chunker: outline, sizes and tools in one value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ingestd.chunk.outline import HEADINGS, Outline, Section
from ingestd.chunk.paths import Paths, paths
from ingestd.chunk.scale import Counter, Scale
from ingestd.model.document import Block
from ingestd.ports.segmenter import Segmenter


@dataclass(frozen=True, slots=True, kw_only=True)
class Manuscript:
    """What a chunker reads."""

    markdown: str
    blocks: tuple[Block, ...]
    """Kept blocks, in reading order."""
    section_of: tuple[int, ...]
    sections: tuple[Section, ...]
    tokens: tuple[int, ...]
    """Of each kept block, special tokens excluded."""
    sums: tuple[int, ...]
    """Tokens of all blocks before each, joints included; one longer than ``blocks``."""
    paths: Paths
    budgets: tuple[float, ...]
    """Most of a body below each section's path."""
    scale: Scale
    counter: Counter
    segmenter: Segmenter

    def size(self, low: int, high: int) -> float:
        """Size of the blocks ``[low, high)`` together."""
        if low >= high:
            return 0.0
        chars = self.blocks[high - 1].end - self.blocks[low].start
        return self.scale.size(self.sums[high] - self.sums[low], chars)

    def budget(self, section: int) -> float:
        """Most of a body below the section's path."""
        return self.budgets[section]

    def goal(self, section: int) -> float:
        """Size of a body, below the section's path, that makes a text of the target size."""
        budget = self.budgets[section]
        return min(budget, max(budget / 2, self.scale.target - (self.scale.cap - budget)))

    def own(self, section: int) -> tuple[int, int]:
        """Blocks of the section itself, its heading left out unless that is too long to stand in the path."""
        it = self.sections[section]
        first = it.first if section and not self.in_path(section) else it.first + 1
        return first, it.own_end

    def in_path(self, section: int) -> bool:
        """Whether the heading stands, whole, in the section's own path."""
        return section in self.paths.shown(section).whole

    def holds(self, section: int, other: int) -> bool:
        """Whether the other section is the section itself or below it."""
        return section <= other and self.sections[other].first < self.sections[section].end

    def is_heading(self, block: int) -> bool:
        """Whether the kept block is a heading."""
        return self.blocks[block].type in HEADINGS


def manuscript(markdown: str, outline: Outline, scale: Scale, counter: Counter, segmenter: Segmenter) -> Manuscript:
    """Manuscript of the outline: all blocks and headings are counted in one call."""
    texts = [markdown[block.start : block.end] for block in outline.blocks]
    lines = [section.line for section in outline.sections]
    counts = counter.net(texts + lines, _longest(scale))
    tokens = counts[: len(texts)]
    laid_out = paths(outline.sections, counts[len(texts) :], scale, counter)
    return Manuscript(
        markdown=markdown,
        blocks=outline.blocks,
        section_of=outline.section_of,
        sections=outline.sections,
        tokens=tuple(tokens),
        sums=_sums(tokens, scale.joint),
        paths=laid_out,
        budgets=tuple(_budgets(laid_out, scale)),
        scale=scale,
        counter=counter,
        segmenter=segmenter,
    )


def _budgets(paths: Paths, scale: Scale) -> Iterator[float]:
    room = scale.room
    for section in range(len(paths.sections)):
        shown = paths.shown(section)
        yield room - scale.size(shown.tokens, shown.chars)


def _longest(scale: Scale) -> int:
    """Characters of a text that is split anyway, whatever its tokens."""
    return max(int(scale.char_cap), 1)


def _sums(tokens: Sequence[int], joint: int) -> tuple[int, ...]:
    return tuple(accumulate((count + joint for count in tokens), initial=0))
