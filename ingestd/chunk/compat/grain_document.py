"""Chunks of a document by grain-growth 1.0.0, from its typed blocks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ingestd.chunk.chunked import Chunked
from ingestd.chunk.compat import grain_growth as seed
from ingestd.chunk.compat.grain_spans import Lying, spans
from ingestd.chunk.compat.ground import Ground, ground
from ingestd.model.chunk import Chunk, Skipped
from ingestd.model.document import BlockType, Document
from ingestd.ports.embedder import TokenCounter

_KINDS: Mapping[BlockType, str | None] = MappingProxyType(
    {
        **{kind: kind.value for kind in BlockType},
        BlockType.CODE: "paragraph",
        BlockType.PICTURE: None,
        BlockType.FURNITURE: None,
    }
)
"""Types as the published package's adapter from Docling gives them; it drops those without one."""
_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "authors": "authors: grain-growth 1.0.0 skips them",
        "footnote": "footnote: grain-growth 1.0.0 skips them",
        "formula": "formula: too short for grain-growth 1.0.0, or without a letter",
        "furniture": "furniture: running header, footer, or markup without text",
        "picture": "picture: grain-growth 1.0.0 has no such block",
        "section": "section: a heading without text below it is in no chunk of grain-growth 1.0.0",
        "title": "title: grain-growth 1.0.0 keeps the first alone, before texts",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Blocks as the published package takes them, beside the document that shows where they stand."""

    blocks: Sequence[seed.Block]
    origins: Sequence[int | None]
    """For each its index among the document's blocks; ``None`` where it has no text to show."""
    filename: str
    """Titles a document without a title block."""


def grain_growth_chunked(document: Document, count: TokenCounter, *, target_size: int, max_size: int) -> Chunked:
    """Chunks of the document's blocks, as the published package grows them.

    Blocks without text, pictures, headers and footers are left out; code is a paragraph. Text that no block holds is a
    paragraph too. Pages count from 0 and are 0 where the format has none, as in the package's adapters.

    Parameters
    ----------
    target_size, max_size
        In characters of body.

    Raises
    ------
    ValueError
        As :func:`~ingestd.chunk.compat.grain_growth.grains.grow` does, or when the document's blocks overlap.
    """
    laid_out = ground(document)
    kinds = [_KINDS[block.type] for block in laid_out.outline.blocks]
    kept = [number for number, kind in enumerate(kinds) if kind is not None]
    blocks = [laid_out.outline.blocks[number] for number in kept]
    given = [
        seed.Block(type=_KINDS[block.type] or "", text=block.text, page=max(0, (block.page or 1) - 1))
        for block in blocks
    ]
    return _chunked(document, laid_out, given, kept, document.title, (target_size, max_size), count)


def given_chunked(document: Document, given: Given, count: TokenCounter, *, target_size: int, max_size: int) -> Chunked:
    """Chunks of blocks that came in the published package's own form, exactly what it makes of them.

    Parameters
    ----------
    document
        Of the same blocks: gives offsets, pages and heading paths.
    target_size, max_size
        In characters of body.

    Raises
    ------
    ValueError
        As :func:`grain_growth_chunked`.
    """
    laid_out = ground(document)
    number_of = {id(block): number for number, block in enumerate(laid_out.outline.blocks)}
    origins = [None if at is None else number_of.get(id(document.blocks[at])) for at in given.origins]
    return _chunked(document, laid_out, given.blocks, origins, given.filename, (target_size, max_size), count)


def _chunked(
    document: Document,
    laid_out: Ground,
    given: Sequence[seed.Block],
    origins: Sequence[int | None],
    filename: str,
    sizes: tuple[int, int],
    count: TokenCounter,
) -> Chunked:
    target, most = sizes
    grains, skipped = seed.grow(given, filename, target, most)
    left = {id(block) for block in skipped}
    lying = [
        Lying(
            kind=str(block["type"]),
            text=block.get("text") or "",
            block=None if origin is None else laid_out.outline.blocks[origin],
            is_said=block["type"] not in {"title", "section"} and id(block) not in left,
        )
        for block, origin in zip(given, origins, strict=True)
    ]
    made = [seed.as_chunk(grain, filename, index) for index, grain in enumerate(grains)]
    counts = count([one["text"] for one in made])
    places = list(spans(document.markdown, grains, lying))
    chunks = tuple(
        _chunk(laid_out, one, used, place, tokens)
        for one, used, place, tokens in zip(made, _used(grains, lying, origins), places, counts, strict=True)
    )
    unsaid = _unsaid(laid_out, grains, lying, origins)
    index_of = {id(block): index for index, block in enumerate(document.blocks)}
    reported = [
        Skipped(block=index, type=block.type.value, reason=_REASONS.get(block.type.value, "no text"))
        for block in (laid_out.outline.blocks[number] for number in unsaid)
        if (index := index_of.get(id(block))) is not None
    ]
    return Chunked(
        chunks=chunks,
        skipped=tuple(sorted([*laid_out.outline.skipped, *reported], key=lambda one: one.block)),
        seeds=tuple([{"metadata": dict(one["metadata"])} for one in made]),
    )


def _used(grains: Sequence[seed.Grain], lying: Sequence[Lying], origins: Sequence[int | None]) -> Iterator[list[int]]:
    """For each chunk the kept blocks whose text is in it."""
    for grain in grains:
        places = (place for place in range(grain.start, grain.stop) if lying[place].is_said)
        yield [origin for place in places if (origin := origins[place]) is not None]


def _unsaid(
    laid_out: Ground, grains: Sequence[seed.Grain], lying: Sequence[Lying], origins: Sequence[int | None]
) -> list[int]:
    """Kept blocks whose text is in no chunk, neither in a body nor in the heading above one."""
    said = {place for grain in grains for place in range(grain.start, grain.stop) if lying[place].is_said}
    if grains:
        said.update([place for place, one in enumerate(lying) if one.kind == "title"][:1])
    heading: int | None = None
    begun = {grain.start for grain in grains}
    for place, one in enumerate(lying):
        if one.kind == "section":
            heading = place
        elif place in begun and heading is not None:
            said.add(heading)
    inside = {origins[place] for place in said}
    return [number for number in range(len(laid_out.outline.blocks)) if number not in inside]


def _chunk(laid_out: Ground, made: seed.Chunk, used: Sequence[int], place: tuple[int, int], tokens: int) -> Chunk:
    section = laid_out.section(used, before=laid_out.blocks(*place).start)
    page_start, page_end = laid_out.pages(used)
    return Chunk(
        text=made["text"],
        body=made["body"],
        heading_path=laid_out.path(section),
        title=made["metadata"]["title"],
        section=laid_out.outline.sections[section].name,
        char_start=place[0],
        char_end=place[1],
        page_start=page_start,
        page_end=page_end,
        block_types=laid_out.types(used),
        index=made["metadata"]["chunk_index"],
        n_chars=made["metadata"]["n_chars"],
        n_tokens=tokens,
    )
