"""Cuts of a text that is too long, nothing lost."""

from collections.abc import Iterator

from ingestd.chunk.graphemes import boundary


def parts_of(text: str, longest: int) -> Iterator[str]:
    """Parts of at most ``longest`` characters that joined are the text, ended after a line, else a word, else a grapheme.

    Only a grapheme that is longer itself is cut.
    """
    start = 0
    while len(text) - start > longest:
        end = start + longest
        line, word = text.rfind("\n", start, end), text.rfind(" ", start, end)
        cut = line + 1 or word + 1 or boundary(text, end, start, len(text))
        # The nearest boundary may lie beyond a long grapheme.
        cut = min(cut, end) if cut > start else end
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]
