"""Texts that an embedder takes, cut where they are too long."""

from collections.abc import Sequence

from ingestd.ports.embedder import TokenCounter


def beginnings(texts: Sequence[str], count: TokenCounter, max_tokens: int) -> list[str]:
    """The texts; of those over the limit about as much from the start as it allows.

    For vectors that only say what a text is about, never for those that are served.

    Parameters
    ----------
    max_tokens
        The embedder's limit, special tokens included.
    """
    made = list(texts)
    counts = count(made)
    # A prefix of `low` characters fits; one of `high` does not. A single character is taken to fit.
    open_ends = {at: (1, len(made[at])) for at, tokens in enumerate(counts) if tokens > max_tokens}
    while open_ends:
        tried = {at: (low + high) // 2 for at, (low, high) in open_ends.items() if high - low > 1}
        fitting = count([texts[at][:length] for at, length in tried.items()]) if tried else []
        for (at, length), tokens in zip(tried.items(), fitting, strict=True):
            low, high = open_ends[at]
            open_ends[at] = (length, high) if tokens <= max_tokens else (low, length)
        for at, (low, _) in list(open_ends.items()):
            if at not in tried:
                made[at] = texts[at][:low]
                del open_ends[at]
    return made
