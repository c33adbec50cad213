"""Tokens of a text with the character that each ends with."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from ingestd.errors import AdapterUnavailable, ConfigurationError
from ingestd_adapters.sat_windows import Tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_BEGIN, _END, _PADDING = "<s>", "</s>", "<pad>"
_SURROGATE = re.compile("[\ud800-\udfff]")
_PIECE_CHARS = 65_536
"""Longest run of characters handed to the engine, which takes some hundred bytes a token."""
_PIECES_A_CALL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Tokens around a window."""

    begin: int
    end: int
    padding: int


class SatTokens:
    """Tokenizer of a SaT model, from its file.

    Raises
    ------
    ConfigurationError
        When the file is no tokenizer of this family.
    """

    def __init__(self, file: Path) -> None:
        self._tokenizer = _tokenizer(file)
        self.marks = Marks(
            begin=self._mark(_BEGIN, file), end=self._mark(_END, file), padding=self._mark(_PADDING, file)
        )

    def read(self, text: str) -> tuple[Tokens, NDArray[np.int64]]:
        """Tokens of a text, without marks at its ends, and the character after the last of each; 0 where it has none.

        A text that spells a mark, such as ``</s>``, gives that mark, as the published models' own code reads it.
        """
        ids: list[Tokens] = [np.empty(0, np.int64)]
        ends: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        pieces = _pieces(_encodable(text))
        base = 0
        while some := list(islice(pieces, _PIECES_A_CALL)):
            for piece, encoding in zip(some, self._tokenizer.encode_batch(some, add_special_tokens=False), strict=True):
                found = np.array(encoding.ids, np.int64)
                after = np.fromiter((end for _, end in encoding.offsets), np.int64, len(found))
                ids.append(found)
                ends.append(np.where(after == 0, 0, after + base))
                base += len(piece)
        return np.concatenate(ids), np.concatenate(ends)

    def _mark(self, mark: str, file: Path) -> int:
        found: int | None = self._tokenizer.token_to_id(mark)
        if found is None:
            raise ConfigurationError(f"{file} knows no token {mark!r}: SaT models go with the tokenizer of XLM-RoBERTa")
        return found


def _pieces(text: str) -> Iterator[str]:
    """Runs of the text that are tokenized on their own, the same tokens coming out.

    White space is where this tokenizer starts a word: a run ends before it where there is any.
    """
    start = 0
    while len(text) - start > _PIECE_CHARS:
        cut = _last_word_end(text, start, start + _PIECE_CHARS)
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def _last_word_end(text: str, start: int, end: int) -> int:
    """Last place where plain white space follows a letter, number or punctuation, or the end where there is none.

    Invisible characters and lone accents are white space to the tokenizer, or nothing.
    """
    cut = end
    while True:
        cut = max(text.rfind(" ", start + 1, cut), text.rfind("\n", start + 1, cut))
        if cut < 0:
            return end
        if category(text[cut - 1])[0] in "LNP":
            return cut


def _encodable(text: str) -> str:
    """The text as valid UTF-8, which alone the engine takes; the stand-in is one character long too, so offsets stay."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _tokenizer(file: Path) -> "Tokenizer":
    try:
        engine: Any = import_module("tokenizers")
    except ImportError as error:
        raise AdapterUnavailable(f'SaT segmenters need an engine: pip install "ingestd[sat]" ({error})') from error
    try:
        tokenizer: Tokenizer = engine.Tokenizer.from_file(os.fspath(file))
    except Exception as error:  # the engine raises nothing narrower
        raise ConfigurationError(
            f"{file} is no tokenizer ({error}): put the model's own tokenizer.json there"
        ) from error
    # Files of this family may come with truncation and padding baked in: the first would cut texts silently.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
