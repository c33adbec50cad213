"""Sizes of texts, in tokens or characters."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingestd.chunk.options import SMALLEST, Sizes
from ingestd.ports.embedder import TokenCounter

CHARS_PER_TOKEN = 16
"""A text weighs at least a token for so many characters: word-piece tokenizers call a word of any length one token."""
_PROBES = ("", "a", "a\n\na")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How large a text is in the unit asked for, and how large it may be.

    Sizes of parts are sums, which bound the whole well but not surely; :meth:`fits` judges the exact string.
    """

    cap: float
    """Most of a chunk's text, in the unit."""
    target: float
    floor: float
    token_cap: int
    char_cap: int
    per_token: float
    """Weight of a token, in the unit."""
    per_char: float
    """Weight of a character, in the unit."""
    special: int
    """Tokens that the tokenizer adds to any text."""
    joint: int
    """Tokens of the blank line between two blocks."""

    def size(self, tokens: int, chars: int) -> float:
        """Size of a text of so many tokens, special ones excluded, and characters."""
        return max(tokens * self.per_token, chars * self.per_char)

    def fits(self, tokens: int, chars: int) -> bool:
        """Whether an exact text of so many tokens, special ones included, keeps the hard limits."""
        return tokens <= self.token_cap and chars <= self.char_cap

    @property
    def room(self) -> float:
        """Most of a text without special tokens."""
        return self.cap - self.special * self.per_token


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """The token counter, called for many texts at once."""

    count: TokenCounter
    special: int

    def exact(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included.

        Raises
        ------
        ValueError
            When the counter gives another number of counts than it was given texts.
        """
        counts = self.count(texts) if texts else []
        if len(counts) != len(texts):
            raise ValueError(f"count gave {len(counts)} counts for {len(texts)} texts; it must give one for each")
        return counts

    def net(self, texts: Sequence[str], longest: int) -> list[int]:
        """Tokens without special ones; texts over ``longest`` characters are estimated, not read."""
        special = self.special
        if max(map(len, texts), default=0) <= longest:
            return [count - special if count > special else 0 for count in self.exact(texts)]
        rest = iter(self.exact([text for text in texts if len(text) <= longest]))
        return [max(0, next(rest) - special) if len(text) <= longest else len(text) // 4 for text in texts]


def scaled(sizes: Sizes, unit: str, count: TokenCounter, max_tokens: int) -> tuple[Scale, Counter]:
    """Scale for the sizes, under the embedder's limit.

    Raises
    ------
    ValueError
        When ``max_tokens`` leaves no room for text.
    """
    probe = Counter(count=count, special=0).exact(_PROBES)
    least = SMALLEST["tokens"]
    if max_tokens < least:
        raise ValueError(f"max_tokens must be at least {least}; got {max_tokens}")
    special = probe[0]
    joint = max(0, probe[2] - 2 * probe[1] + special)
    in_tokens = unit == "tokens"
    token_cap = min(sizes.max_size, max_tokens) if in_tokens else max_tokens
    if special > token_cap // 2:
        raise ValueError(f"the limit must be at least {2 * special} tokens, twice the special ones; got {token_cap}")
    cap = token_cap if in_tokens else min(sizes.max_size, CHARS_PER_TOKEN * max_tokens)
    scale = Scale(
        cap=cap,
        target=min(sizes.target_size, cap),
        floor=min(sizes.min_size, cap),
        token_cap=token_cap,
        char_cap=CHARS_PER_TOKEN * token_cap if in_tokens else cap,
        per_token=1.0 if in_tokens else cap / max_tokens,
        per_char=1.0 / CHARS_PER_TOKEN if in_tokens else 1.0,
        special=special,
        joint=joint,
    )
    return scale, Counter(count=count, special=special)
