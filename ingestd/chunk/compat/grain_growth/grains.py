"""Grains of a document that is given as typed blocks."""

import math
from collections.abc import Callable, Sequence

from ingestd.chunk.compat.grain_growth.blocks import Block, text_of, type_of
from ingestd.chunk.compat.grain_growth.growth import Grain, Growth
from ingestd.chunk.compat.grain_growth.reading import read
from ingestd.chunk.compat.grain_growth.runs import Sizes, grow_runs
from ingestd.chunk.tracing import Value, span

DEFAULT_TARGET_CHARS = 1500
"""Characters of body at which a chunk is full."""
DEFAULT_MAX_CHARS = 2000
"""Characters of body over which a block is split."""
FORMULA_LEAD_SENTENCES = 2
"""Sentences that stay with a formula when its paragraph is too long to."""


def grow(
    blocks: Sequence[Block],
    filename: str,
    target_chars: float = DEFAULT_TARGET_CHARS,
    max_chars: float = DEFAULT_MAX_CHARS,
    lead_sentences: int = FORMULA_LEAD_SENTENCES,
) -> tuple[list[Grain], list[Block]]:
    """Chunks with where they come from, then the skipped blocks.

    Parameters
    ----------
    blocks, filename, target_chars, max_chars, lead_sentences
        As `grow_into` takes them.

    Raises
    ------
    ValueError
        As `grow_into` does.
    """
    grains: list[Grain] = []
    skipped = grow_into(grains.append, blocks, filename, target_chars, max_chars, lead_sentences)
    return grains, skipped


def grow_into(
    take: Callable[[Grain], None],
    blocks: Sequence[Block],
    filename: str,
    target_chars: float,
    max_chars: float,
    lead_sentences: int,
) -> list[Block]:
    """Give each chunk to ``take`` and return the skipped blocks: authors, footnotes, formulas that tell nothing.

    Parameters
    ----------
    blocks
        In reading order. A list: of an iterator, all up to the first title is lost, as in the published package.
    filename
        The title where no block has one.
    target_chars
        A chunk takes no further block beyond it, unless it would end in the middle of a sentence.
    max_chars
        Paragraphs, list items and tables that are longer are split. No cap: a word, a table's row, a formula or a
        caption may be longer, and so may a piece that repeats a sentence.
    lead_sentences
        Of a paragraph too long to stay with the formula that it leads to, these stay.

    Raises
    ------
    ValueError
        Naming the block or the parameter that is wrong.
    """
    sizes = Sizes(target_chars, max_chars, lead_sentences)
    _check(blocks, sizes)
    attributes: dict[str, Value] = {
        "ingestd.target_chars": target_chars,
        "ingestd.max_chars": max_chars,
        "ingestd.lead_sentences": lead_sentences,
    }
    with span("ingestd.grain_growth", attributes) as current:
        title = _title(blocks) or filename
        reading, skipped = read(blocks)
        current.set_attribute("ingestd.blocks.count", len(reading.texts) + len(skipped))
        chars = sum(map(len, reading.texts))
        grow_runs(reading, Growth(take, title, target=target_chars, most=max_chars, chars=chars), sizes)
        current.set_attribute("ingestd.skipped.count", len(skipped))
    return skipped


def _check(blocks: object, sizes: Sizes) -> None:
    if blocks is None or isinstance(blocks, str | bytes):
        raise ValueError(f"blocks must be a list, got {type(blocks).__name__}")
    for name, size in (("target_chars", sizes.target), ("max_chars", sizes.most)):
        if not _is_size(size):
            raise ValueError(f"{name} must be a number of characters, got {size!r}")
    if not hasattr(sizes.lead_sentences, "__index__"):
        raise ValueError(f"lead_sentences must be an integer, got {sizes.lead_sentences!r}")


def _is_size(size: float) -> bool:
    try:
        return not math.isnan(size)
    except TypeError:
        return False


def _title(blocks: Sequence[Block]) -> str:
    for at, block in enumerate(blocks):
        try:
            is_title = block["type"] == "title"
        except (KeyError, TypeError, IndexError):
            is_title = type_of(block, at) == "title"
        if is_title:
            return text_of(block, at)
    return ""
