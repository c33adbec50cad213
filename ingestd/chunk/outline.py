"""The one model of a document that both chunkers read: kept blocks in their tree of sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingestd.chunk.graphemes import boundary
from ingestd.model.chunk import Skipped
from ingestd.model.document import Block, BlockType, Document

HEADINGS = frozenset({BlockType.TITLE, BlockType.SECTION})
MARKS = 6
"""Most ``#`` marks that a heading line shows: Markdown knows no more."""
LONGEST_LINE = 400
"""Characters of a heading line in a path; what is longer is body text as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with all below it. Number 0 is the document itself, without a heading."""

    parent: int
    line: str
    """Heading with its marks, one line."""
    name: str
    """Heading without its marks."""
    whole: bool
    """Whether ``line`` holds all of the heading."""
    first: int
    """Kept block that is the heading; what follows it are the section's own blocks."""
    own_end: int
    """One past the last block before the first section below."""
    end: int
    """One past the last block of the section and all below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Kept blocks in reading order, and the sections that hold them, in the order of their headings."""

    blocks: tuple[Block, ...]
    section_of: tuple[int, ...]
    """Section of each kept block; a heading belongs to its own."""
    sections: tuple[Section, ...]
    skipped: tuple[Skipped, ...]


def outline(document: Document, reasons: Mapping[BlockType, str]) -> Outline:
    """Outline of the document; blocks whose type has a reason are skipped with it, and those without text.

    Raises
    ------
    ValueError
        When the blocks overlap or leave the Markdown; names the first that does.
    """
    kept: list[Block] = []
    skipped: list[Skipped] = []
    for index, block in _checked(document):
        reason = _reason(document.markdown, block, reasons)
        if reason is None:
            kept.append(block)
        else:
            skipped.append(Skipped(block=index, type=block.type.value, reason=reason))
    section_of, sections = _tree(kept)
    return Outline(blocks=tuple(kept), section_of=tuple(section_of), sections=tuple(sections), skipped=tuple(skipped))


def _checked(document: Document) -> Iterator[tuple[int, Block]]:
    """Blocks with their index, and text that no block holds as paragraphs of index -1."""
    position = 0
    markdown = document.markdown
    for index, block in enumerate(document.blocks):
        start, end = block.start, block.end
        if not position <= start <= end <= len(markdown):
            raise ValueError(
                f"block {index} ({block.type.value}) spans {start} to {end}; "
                f"it must lie between {position} and {len(markdown)}"
            )
        if not markdown[position:start].isspace():
            yield from _between(markdown, position, start)
        yield index, block
        position = end
    yield from _between(markdown, position, len(markdown))


def _between(markdown: str, start: int, end: int) -> Iterator[tuple[int, Block]]:
    text = markdown[start:end].strip()
    if any(character.isalnum() for character in text):
        first = markdown.index(text[0], start)
        yield -1, Block(type=BlockType.PARAGRAPH, text=text, start=first, end=first + len(text))


def _reason(markdown: str, block: Block, reasons: Mapping[BlockType, str]) -> str | None:
    if block.type in reasons:
        return reasons[block.type]
    start, end = block.start, block.end
    blank = start == end or (markdown[start].isspace() and markdown[start:end].isspace())
    return "no text" if blank or not block.text or block.text.isspace() else None


def _tree(kept: Sequence[Block]) -> tuple[list[int], list[Section]]:
    parents, firsts, levels, own_ends, ends = [0], [-1], [0], [-1], [-1]
    section_of: list[int] = []
    open_sections = [0]
    count = 0
    for count, block in enumerate(kept, start=1):
        index = count - 1
        if block.type in HEADINGS:
            level = max(1, block.level or 1)
            while levels[open_sections[-1]] >= level:
                ends[open_sections.pop()] = index
            parent = open_sections[-1]
            if own_ends[parent] < 0:
                own_ends[parent] = index
            open_sections.append(len(parents))
            parents.append(parent)
            firsts.append(index)
            levels.append(level)
            own_ends.append(-1)
            ends.append(-1)
        section_of.append(open_sections[-1])
    for section in open_sections:
        ends[section] = count
    own_ends = [end if own_end < 0 else own_end for own_end, end in zip(own_ends, ends, strict=True)]
    return section_of, [
        _section(kept, level, *place) for level, *place in zip(levels, parents, firsts, own_ends, ends, strict=True)
    ]


def _section(kept: Sequence[Block], level: int, parent: int, first: int, own_end: int, end: int) -> Section:
    marks = "#" * min(level, MARKS)
    said = kept[first].text if level else ""
    # Of two equal strings one is enough: there may be 100,000 headings.
    name = said if (one_line := " ".join(said.split())) == said else one_line
    longest = LONGEST_LINE - MARKS - 1
    whole = len(name) <= longest
    if not whole:
        name = name[: boundary(name, longest - 1, 0, len(name))].rstrip() + "\u2026"
    return Section(
        parent=parent,
        line=f"{marks} {name}" if level else "",
        name=name,
        whole=whole,
        first=first,
        own_end=own_end,
        end=end,
    )
