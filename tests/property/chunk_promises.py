"""What is promised of every document's chunks, judged without the chunkers' own code."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ingestd.chunk import Chunked
from ingestd.model.chunk import Chunk
from ingestd.model.document import Block, BlockType, Document
from ingestd_adapters.markdown_blocks import scan

_HEADINGS = (BlockType.TITLE, BlockType.SECTION)
_ITEM = re.compile(r"[ \t>]*(?:[-*+\u2022\u2023\u25e6\u25aa\u2013]|\(?(?:\d{1,9}|[A-Za-z])[.)])(?=\s|$)")
_FENCE = re.compile(r" {0,3}(?P<bar>`{3,}|~{3,})(?P<info>.*)")
_PROSE = (BlockType.PARAGRAPH, BlockType.FOOTNOTE, BlockType.AUTHORS, BlockType.CAPTION, BlockType.PICTURE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the chunks were asked to keep."""

    count: Callable[[Sequence[str]], list[int]]
    tokens: int
    chars: int | None = None
    additive: bool = True
    """Whether a text has about as many tokens as its parts together; otherwise no place for a cut is the right one."""

    def share(self, text: str) -> float:
        """Part of the limits that the text takes."""
        tokens = (self.count([text])[0] - self.count([""])[0]) / (self.tokens - self.count([""])[0])
        by_length = len(text) / (self.chars if self.chars is not None else 16 * self.tokens)
        return max(tokens, by_length)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A kept block and the headings above it, itself included when it is one."""

    block: Block
    above: tuple[int, ...]


def broken(document: Document, chunked: Chunked, limits: Limits, *, tiled: bool) -> list[str]:
    """The promises that the chunks break, in words; empty when they keep all."""
    kept = _kept(document, chunked)
    checks = (
        _over(chunked, limits),
        _described(document, chunked),
        _lost(document, chunked, kept),
        _torn(document, chunked) if tiled else _overlapping(document, chunked, kept),
        _misplaced(document, chunked, kept),
        _ill_cut(document, chunked, kept, limits) if limits.additive else (),
    )
    return [finding for check in checks for finding in check]


def _kept(document: Document, chunked: Chunked) -> list[_Placed]:
    skipped = {each.block for each in chunked.skipped}
    stack: list[tuple[int, int]] = []
    placed: list[_Placed] = []
    for index, block in enumerate(document.blocks):
        if index in skipped:
            continue
        if block.type in _HEADINGS:
            level = max(1, block.level or 1)
            while stack and stack[-1][0] >= level:
                stack.pop()
            stack.append((level, index))
        placed.append(_Placed(block=block, above=tuple(number for _, number in stack)))
    return placed


def _over(chunked: Chunked, limits: Limits) -> Iterator[str]:
    counts = limits.count([chunk.text for chunk in chunked.chunks])
    for chunk, tokens in zip(chunked.chunks, counts, strict=True):
        if tokens != chunk.n_tokens:
            yield f"chunk {chunk.index} says {chunk.n_tokens} tokens and has {tokens}"
        if tokens > limits.tokens or len(chunk.text) > (limits.chars or 16 * limits.tokens):
            yield f"chunk {chunk.index} has {tokens} tokens and {len(chunk.text)} characters"


def _described(document: Document, chunked: Chunked) -> Iterator[str]:
    for index, chunk in enumerate(chunked.chunks):
        if chunk.index != index or chunk.n_chars != len(chunk.body) or chunk.title != document.title:
            yield f"chunk {index} is described wrongly"
        empty = re.fullmatch(r"(`{3,}|~{3,})[^`\s]*[\r\n]+\1`*", chunk.body)
        if not chunk.body.strip() or (empty and chunk.body not in document.markdown):
            yield f"chunk {index} is blank"
        head = chunk.text.removesuffix(chunk.body)
        lines = head.rstrip("\n").split("\n") if head else []
        cut = len(lines) == 1 and lines[0].endswith("\u2026") and chunk.heading_path[-1].startswith(lines[0][:-1])
        if head != "".join(f"{line}\n" for line in lines) + ("\n" if lines else ""):
            yield f"chunk {index} begins with {head!r}"
        if lines and not cut and tuple(lines) != chunk.heading_path[-len(lines) :]:
            yield f"chunk {index} shows {lines} for {chunk.heading_path}"


def _lost(document: Document, chunked: Chunked, kept: Sequence[_Placed]) -> Iterator[str]:
    """Every skipped block has its reason, every other one is in chunks: its characters in order, none twice in a span."""
    for each in chunked.skipped:
        block = document.blocks[each.block]
        if not each.reason or each.type != block.type.value:
            yield f"block {each.block} is skipped without a reason"
        if each.reason == "no text" and block.text.strip() and document.markdown[block.start : block.end].strip():
            yield f"block {each.block} has a text and is skipped for want of it"
    spans = sorted((chunk.char_start, chunk.char_end) for chunk in chunked.chunks)
    markdown = document.markdown
    for placed in kept:
        position = placed.block.start
        for start, end in spans:
            if start <= position or not markdown[position : min(start, placed.block.end)].strip():
                position = max(position, end)
            if position >= placed.block.end:
                break
        if markdown[position : placed.block.end].strip():
            yield f"the {placed.block.type.value} at {placed.block.start} is in no chunk from {position} on"
    for chunk in chunked.chunks:
        yield from _unlike_its_span(document, chunk, kept)


def _unlike_its_span(document: Document, chunk: Chunk, kept: Sequence[_Placed]) -> Iterator[str]:
    inside = _inside(document.markdown, chunk, kept)
    whole = all(each.block.start >= chunk.char_start and each.block.end <= chunk.char_end for each in inside)
    said = _visible(chunk.body)
    for heads in range(len(inside) + 1):
        pieces = [
            document.markdown[max(each.block.start, chunk.char_start) : min(each.block.end, chunk.char_end)]
            for each in inside[heads:]
        ]
        wanted = _visible("".join(pieces))
        if wanted == said or (not whole and _is_subsequence(wanted, said) and heads == _said_by_path(inside, chunk)):
            return
        if heads < len(inside) and inside[heads].block.type not in _HEADINGS:
            break
    yield f"chunk {chunk.index} holds {chunk.body!r} for {document.markdown[chunk.char_start : chunk.char_end]!r}"


def _said_by_path(inside: Sequence[_Placed], chunk: Chunk) -> int:
    """How many blocks at the chunk's beginning are headings that its text says above the body."""
    lines = chunk.text.removesuffix(chunk.body).rstrip("\n").split("\n")
    count = 0
    for each in inside[:-1]:
        if each.block.type not in _HEADINGS or not any(_line(each.block)[1] == line.lstrip("# ") for line in lines):
            break
        count += 1
    return count


def _torn(document: Document, chunked: Chunked) -> Iterator[str]:
    joined = "".join(document.markdown[chunk.char_start : chunk.char_end] for chunk in chunked.chunks)
    if chunked.chunks and joined != document.markdown:
        yield "the chunks joined are not the document"


def _overlapping(document: Document, chunked: Chunked, kept: Sequence[_Placed]) -> Iterator[str]:
    del document
    for before, after in zip(chunked.chunks, chunked.chunks[1:], strict=False):
        if after.char_start >= before.char_end:
            continue
        shared = [each for each in kept if each.block.start < before.char_end and each.block.end > after.char_start]
        if len(shared) != 1 or shared[0].block.type not in _PROSE:
            yield f"chunks {before.index} and {after.index} overlap in {[each.block.type.value for each in shared]}"
        if not before.char_start < after.char_start < before.char_end < after.char_end:
            yield f"chunk {after.index} holds nothing new"


def _misplaced(document: Document, chunked: Chunked, kept: Sequence[_Placed]) -> Iterator[str]:
    """Paths, pages, types and chapters follow from the kept blocks that lie in a chunk's span."""
    for chunk in chunked.chunks:
        inside = _inside(document.markdown, chunk, kept)
        if not inside:
            # Text that no block holds.
            continue
        paths = [[_line(document.blocks[number]) for number in path[-64:]] for path in _paths(inside)]
        if not any(_are_lines(chunk.heading_path, path) for path in paths):
            yield f"chunk {chunk.index} has the path {chunk.heading_path}, not {paths[-1]}"
        if len({each.above[:1] for each in inside}) > 1:
            yield f"chunk {chunk.index} holds parts of several chapters"
        pages = [each.block.page for each in inside if each.block.page is not None]
        if (chunk.page_start, chunk.page_end) != (min(pages, default=None), max(pages, default=None)):
            yield f"chunk {chunk.index} says pages {chunk.page_start} to {chunk.page_end}, not {pages}"
        kinds = {each.block.type.value for each in inside}
        if not kinds <= set(chunk.block_types) <= kinds | {"paragraph"}:
            yield f"chunk {chunk.index} says types {chunk.block_types}, not {kinds}"


def _paths(inside: Sequence[_Placed]) -> Iterator[tuple[int, ...]]:
    """Headings above all that the chunk holds; those at its beginning may count as body or as headings of the rest."""
    for first, each in enumerate(inside):
        paths = [other.above for other in inside[first:]]
        length = 0
        while all(len(path) > length and path[length] == paths[0][length] for path in paths):
            length += 1
        yield paths[0][:length]
        if each.block.type not in _HEADINGS or any(path[: len(each.above)] != each.above for path in paths):
            return


def _line(block: Block) -> tuple[int, str]:
    return min(max(1, block.level or 1), 6), " ".join(block.text.split())


def _are_lines(lines: Sequence[str], wanted: Sequence[tuple[int, str]]) -> bool:
    return len(lines) == len(wanted) and all(_is_line(line, *want) for line, want in zip(lines, wanted, strict=True))


def _is_line(line: str, level: int, text: str) -> bool:
    marks, _, name = line.partition(" ")
    cut = len(text) > 300 and name.endswith("\u2026") and text.startswith(name[:-1])
    return marks == "#" * level and (name == text or cut)


def _ill_cut(document: Document, chunked: Chunked, kept: Sequence[_Placed], limits: Limits) -> Iterator[str]:
    """Every cut inside a block is at the coarsest place that the limits leave, and both sides read alone."""
    chunks = sorted(chunked.chunks, key=lambda chunk: chunk.index)
    for placed in kept:
        block = placed.block
        inner = [chunk for chunk in chunks if block.start < chunk.char_start < block.end]
        inner = [chunk for chunk in inner if document.markdown[block.start : chunk.char_start].strip()]
        if not inner:
            continue
        source = document.markdown[block.start : block.end]
        if block.type is not BlockType.LIST and block.type not in _PROSE and limits.share(source) < 1 / 2:
            yield f"the {block.type.value} at {block.start} is cut for nothing"
        for chunk in inner:
            yield from _bad_cut(document.markdown, block, chunk, limits)


def _bad_cut(markdown: str, block: Block, chunk: Chunk, limits: Limits) -> Iterator[str]:
    at = chunk.char_start
    source = markdown[block.start : block.end]
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line_start = max(markdown.rfind("\n", 0, at), markdown.rfind("\r", 0, at)) + 1
    at_line = not markdown[line_start:at].strip()
    where = f"the {block.type.value} at {block.start} is cut at {at}, chunk {chunk.index}:"
    if _inside_grapheme(markdown, at) and not _hopeless(markdown, at, limits):
        yield f"{where} inside a character"
    if (
        block.type is BlockType.TABLE
        and block.header_rows
        and limits.share("\n".join(lines[: block.header_rows])) < 1 / 5
    ):
        rows = "\n".join(lines[: block.header_rows])
        if _visible(rows) not in _visible(chunk.body) and chunk.text != chunk.body:
            yield f"{where} without its header rows"
    if block.type in (BlockType.TABLE, BlockType.CODE) and not at_line and max(map(limits.share, lines)) < 1 / 3:
        yield f"{where} inside a row"
    if block.type is BlockType.LIST and not (at_line and _ITEM.match(markdown[line_start : at + 40])):
        items = [line for line in lines if line.strip()]
        if all(_ITEM.match(line) for line in items) and max(map(limits.share, items)) < 1 / 4:
            yield f"{where} inside an item"
    if block.type is BlockType.CODE and not _is_fenced(lines[0], chunk.body, limits):
        yield f"{where} without its fence"


def _is_fenced(opening: str, body: str, limits: Limits) -> bool:
    """Whether the body has code with the fence that opens here, while that is no crowd."""
    opened = _FENCE.match(opening)
    if not opened:
        return True
    bar, info = opened["bar"], opened["info"].strip()
    if len(info) > 40 or limits.share(f"{bar}{info}\n\n\n{bar}") >= 1 / 8:
        return True
    fenced = [each for each in scan(body) if each.type is BlockType.CODE]
    return any(body.startswith(bar + info, each.start) for each in fenced)


def _hopeless(markdown: str, at: int, limits: Limits) -> bool:
    """Whether the character around the place is longer than a chunk may be."""
    low = high = at
    while low and _inside_grapheme(markdown, low):
        low -= 1
    while high < len(markdown) and _inside_grapheme(markdown, high):
        high += 1
    return limits.share(markdown[max(0, low - 1) : high]) > 1 / 4


def _inside_grapheme(text: str, at: int) -> bool:
    """Whether the place is between a character and what surely extends it."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isspace() or unicodedata.category(before) in ("Cc", "Cs", "Zl", "Zp"):
        return before == "\r" and after == "\n"
    return (
        unicodedata.category(after) in ("Mn", "Me")
        or after == "\u200d"
        or (before == "\u200d" and after >= "\U0001f300")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _inside(markdown: str, chunk: Chunk, kept: Sequence[_Placed]) -> list[_Placed]:
    """Kept blocks of which the chunk's span holds more than white space."""
    low, high = chunk.char_start, chunk.char_end
    return [each for each in kept if markdown[max(low, each.block.start) : min(high, each.block.end)].strip()]


def _visible(text: str) -> str:
    return "".join(text.split())


def _is_subsequence(wanted: str, said: str) -> bool:
    rest = iter(said)
    return all(character in rest for character in wanted)
