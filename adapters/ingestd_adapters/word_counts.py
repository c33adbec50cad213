"""Token counts of texts as sums over their words, each word counted once.

Exact for tokenizers of BERT's kind, which cut at every space before anything else, so that no token reaches over one.
"""

from collections.abc import Callable, Sequence

_LARGEST = 2_000_000
"""Characters of words that are remembered before all are forgotten; with their counts they take some forty megabytes."""


class WordCounts:
    """Counts by word; safe from any thread."""

    def __init__(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        """Take ``count``, which gives the tokens of each text, special ones included."""
        self._count = count
        self._known: dict[str, int] = {}
        self._characters = 0

    def of(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included."""
        # Split at these two alone: what else Python calls white space, such a tokenizer may take for nothing at all.
        split = [text.replace("\n", " ").split(" ") for text in texts]
        # Words are only ever added to a dictionary: another thread may be about to look one up in it.
        known = self._known
        new = [word for word in {""}.union(*split) if word not in known]
        if new:
            known.update(zip(new, self._count(new), strict=True))
            self._characters += sum(map(len, new))
            if self._characters > _LARGEST:
                self._known, self._characters = {}, 0
        special = known[""]
        return [sum([known[word] for word in words]) - special * (len(words) - 1) for words in split]
