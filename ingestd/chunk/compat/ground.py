"""Where in a document a span of its Markdown lies: under which headings, on which pages, in which blocks."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from ingestd.chunk.outline import HEADINGS, Outline, outline
from ingestd.chunk.paths import DEEPEST
from ingestd.model.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Kept blocks of a document in their tree of sections, found by their place."""

    outline: Outline
    starts: tuple[int, ...]
    """First character of each kept block."""
    ends: tuple[int, ...]
    """One past the last."""

    def blocks(self, start: int, end: int) -> range:
        """Kept blocks with a character in ``[start, end)``."""
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))

    def section(self, blocks: Sequence[int], before: int = 0) -> int:
        """Innermost section that holds the text of all these kept blocks; headings alone count where no other text is.

        Parameters
        ----------
        before
            Kept blocks before them: without any blocks the section is the last one's.
        """
        section_of = self.outline.section_of
        if not blocks:
            return section_of[before - 1] if before else 0
        texts = {section_of[block] for block in blocks if self.outline.blocks[block].type not in HEADINGS}
        return reduce(self._common, texts or self._leaves({section_of[block] for block in blocks}))

    def path(self, section: int) -> tuple[str, ...]:
        """Headings of the ancestors and of the section itself, outermost first, each with its marks."""
        lines: list[str] = []
        while section and len(lines) < DEEPEST:
            lines.append(self.outline.sections[section].line)
            section = self.outline.sections[section].parent
        return tuple(reversed(lines))

    def pages(self, blocks: Collection[int]) -> tuple[int | None, int | None]:
        """First and last page of these kept blocks, 1-based."""
        pages = [page for block in blocks if (page := self.outline.blocks[block].page) is not None]
        return min(pages, default=None), max(pages, default=None)

    def types(self, blocks: Collection[int]) -> tuple[str, ...]:
        """Types of these kept blocks, sorted, each once."""
        return tuple(sorted({self.outline.blocks[block].type.value for block in blocks}))

    def _common(self, one: int, other: int) -> int:
        # A section's number is above its parent's.
        while one != other:
            one, other = max(one, other), min(one, other)
            one = self.outline.sections[one].parent
        return one

    def _leaves(self, sections: set[int]) -> set[int]:
        """Those that hold none of the others."""
        return sections - {self.outline.sections[section].parent for section in sections}


def ground(document: Document) -> Ground:
    """Ground of a document, all its blocks with text kept.

    Raises
    ------
    ValueError
        When the blocks overlap or leave the Markdown; names the first that does.
    """
    laid_out = outline(document, MappingProxyType({}))
    return Ground(
        outline=laid_out,
        starts=tuple([block.start for block in laid_out.blocks]),
        ends=tuple([block.end for block in laid_out.blocks]),
    )
