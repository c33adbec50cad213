"""A document into sentences."""

import re
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingestd.chunk.compat.structure_first.blocks import Blocks, blocks_of, line_starts, parser_line_starts
from ingestd.chunk.compat.structure_first.characters import runs_of, space_mask
from ingestd.chunk.compat.structure_first.constants import MIN_SENTENCE_CHARS
from ingestd.chunk.compat.structure_first.errors import ValidationError
from ingestd.chunk.compat.structure_first.protocols import KnownProbabilities, SentenceSegmenter, Vector
from ingestd.chunk.compat.structure_first.segmenters import punctuation_segmenter
from ingestd.chunk.compat.structure_first.sentence_cuts import sentence_cuts
from ingestd.chunk.tracing import Value, span

_BLOCK_CHARS = 1 << 18
"""Characters whose white space is looked at in one go, to save memory."""


def split_sentences(
    document: str,
    min_len: int = MIN_SENTENCE_CHARS,
    max_len: int | None = None,
    known_boundary_probas: KnownProbabilities = None,
    *,
    segmenter: SentenceSegmenter | None = None,
) -> list[str]:
    """Split a document where a segmenter, Markdown's headings and the lengths agree best.

    Parameters
    ----------
    document
        Any text.
    min_len, max_len
        Characters of a sentence; a document no longer than ``min_len`` is one sentence, even over ``max_len``. With a
        ``min_len`` of 0 probabilities are not heard, as in the seed.
    known_boundary_probas
        Probabilities that overrule the segmenter's where they are finite, or what makes them of the document. Without
        them headings are kept together, and apart from all else.
    segmenter
        Gives the probability of a sentence's end after each character.

    Returns
    -------
    list of str
        Their concatenation is the document, but for a document of white space, which has none.

    Raises
    ------
    UnsplittableDocumentError
        When no sentences have these lengths.
    ValidationError
        When a length is negative, or when the segmenter is missing or gives a wrong number of probabilities.
    """
    _check_lengths(min_len, max_len)
    return _traced(document, min_len, max_len, segmenter, None, known_boundary_probas)


def sentences_of(document: str, max_len: int, segmenter: SentenceSegmenter | None, blocks: Blocks) -> list[str]:
    """As :func:`split_sentences`, of a text that was parsed already."""
    return _traced(document, MIN_SENTENCE_CHARS, max_len, segmenter, blocks, None)


def _traced(
    document: str,
    min_len: int,
    max_len: int | None,
    segmenter: SentenceSegmenter | None,
    blocks: Blocks | None,
    known: KnownProbabilities,
) -> list[str]:
    attributes: dict[str, Value] = {
        "fancychunk.document.length": len(document),
        "fancychunk.min_len": min_len,
        "fancychunk.segmenter": getattr(segmenter, "__name__", type(segmenter).__name__),
    }
    if max_len is not None:
        attributes["fancychunk.max_len"] = max_len
    with span("fancychunk.split_sentences", attributes) as current:
        short = _short_circuit(document, min_len)
        if short:
            current.set_attribute("fancychunk.short_circuit", short)
            sentences = [document] if short == "below_min_len" else []
        else:
            sentences = _split(document, min_len, max_len, segmenter, blocks, known)
        current.set_attribute("fancychunk.sentences.count", len(sentences))
    return sentences


def _short_circuit(document: str, min_len: int) -> str | None:
    """Why the document is not split at all."""
    if not document:
        return "empty"
    if document.isspace():
        return "whitespace_only"
    return "below_min_len" if len(document) <= min_len else None


def _check_lengths(min_len: int, max_len: int | None) -> None:
    if min_len < 0:
        raise ValidationError(f"min_len must be non-negative, got {min_len}")
    if max_len is not None and max_len <= 0:
        raise ValidationError(f"max_len must be positive when set, got {max_len}")


def _split(
    document: str,
    min_len: int,
    max_len: int | None,
    segmenter: SentenceSegmenter | None,
    blocks: Blocks | None,
    known: KnownProbabilities,
) -> list[str]:
    known = known(document) if callable(known) else known
    if known is None and blocks is None:
        blocks = blocks_of(document)
    with span("fancychunk.sentences.segmenter"):
        probabilities = _segmented(document, segmenter)
    with span("fancychunk.sentences.heading_override"):
        if blocks is not None:
            _keep_headings(probabilities, document, blocks)
    with span("fancychunk.sentences.merge"):
        if known is not None:
            _overrule(probabilities, _vector(known, len(document), "known_boundary_probas has"))
        np.clip(probabilities, 0.0, 1.0, out=probabilities)
    with span("fancychunk.sentences.whitespace_trailing"):
        _shift_past_spaces(probabilities, document)
    with span("fancychunk.sentences.dp"):
        cuts = sentence_cuts(probabilities, min_len, max_len or len(document))
    with span("fancychunk.sentences.slice"):
        return [document[start:end] for start, end in pairwise([0, *cuts])]


def _segmented(document: str, segmenter: SentenceSegmenter | None) -> Vector:
    """Probabilities that are ours to change."""
    if segmenter is None:
        raise ValidationError(
            "segmenter is missing: the seed would download SaT models here; pass punctuation_segmenter, or any function "
            "that gives a probability for each character"
        )
    given = segmenter(document)
    vector = _vector(given, len(document), "segmenter returned")
    if np.isnan(vector.sum()):
        raise ValidationError("segmenter returned probabilities that are not numbers (NaN); give each one as 0 to 1")
    return vector if segmenter is punctuation_segmenter else vector.copy()


def _vector(given: ArrayLike, length: int, what: str) -> Vector:
    vector = np.asarray(given, dtype=np.float64)
    if vector.shape != (length,):
        raise ValidationError(f"{what} shape {vector.shape}; expected ({length},), one probability for each character")
    return vector


def _overrule(probabilities: Vector, known: Vector) -> None:
    finite = np.isfinite(known)
    probabilities[finite] = known[finite]


def _keep_headings(probabilities: Vector, document: str, blocks: Blocks) -> None:
    """No end in a heading, and certain ones before and after it."""
    if not blocks.headings:
        return
    starts = line_starts(document)
    if max(first for first, _ in blocks.headings) >= len(starts):
        starts = parser_line_starts(document)
    for line, line_after in blocks.headings:
        first = int(starts[line])
        last = (int(starts[line_after]) if line_after < len(starts) else len(document)) - 1
        while document[first : first + 1] in _BLANKS:
            first += 1
        while last >= first and document[last] in " \t\n\r":
            last -= 1
        if last < first:
            continue
        if first > 0:
            probabilities[first - 1] = 1.0
        probabilities[first:last] = 0.0
        probabilities[last] = 1.0


_BLANKS = (" ", "\t")


def _shift_past_spaces(probabilities: Vector, document: str) -> None:
    """Move the end of a sentence behind the white space that follows it."""
    low = 0
    while low < len(document):
        beyond = _NO_SPACE.search(document, low + _BLOCK_CHARS)
        high = beyond.start() if beyond else len(document)
        starts, ends = runs_of(space_mask(document[low:high]))
        if not low and len(starts) and not starts[0]:
            starts, ends = starts[1:], ends[1:]
        if len(starts):
            _shift(probabilities[low:high], starts - 1, ends)
        low = high


_NO_SPACE = re.compile(r"\S")


def _shift(probabilities: Vector, lows: NDArray[np.intp], highs: NDArray[np.intp]) -> None:
    """In each range put the greatest at the end, and the least before it."""
    edges = np.empty(2 * len(lows), dtype=np.intp)
    edges[0::2], edges[1::2] = lows, highs
    if edges[-1] == len(probabilities):
        edges = edges[:-1]
    greatest: Vector = np.maximum.reduceat(probabilities, edges)[0::2]
    least: Vector = np.minimum.reduceat(probabilities, edges)[0::2]
    moved = np.flatnonzero(greatest != least)
    for low, high, top, bottom in zip(
        lows[moved].tolist(), highs[moved].tolist(), greatest[moved].tolist(), least[moved].tolist(), strict=True
    ):
        probabilities[low : high - 1] = bottom
        probabilities[high - 1] = top
