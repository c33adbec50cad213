"""What turns texts into vectors."""

from collections.abc import Callable, Sequence
from typing import Protocol

from ingestd.model.recipe import Stage
from ingestd.model.vectors import Matrix

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Tokens of each text, special tokens included, by the embedder's own tokenizer; safe from any thread."""


class Embedder(Protocol):
    """A loaded model. It lives in a process of its own; making one loads nothing until :meth:`load`."""

    @property
    def stage(self) -> Stage:
        """Identity: weights' hash, tokenizer's hash, pooling, prefixes, dimension, truncation."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Most tokens of one text, special tokens included; longer ones are never sent."""
        ...

    @property
    def tolerance(self) -> float:
        """Most that the cosine of two vectors of one text, embedded in different batches, falls below 1."""
        ...

    @property
    def device(self) -> str:
        """The device in use, such as ``cpu`` or ``cuda:0``; for people."""
        ...

    def load(self) -> None:
        """Verify the weights' hashes and load them.

        Raises
        ------
        AdapterUnavailable
            When the engine or the weights are not installed; names the extra.
        ConfigurationError
            When a file's hash is not the pinned one; names the file and both hashes.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text with special tokens; needs the tokenizer only, not :meth:`load`."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Vectors of one batch that fits the device, shape ``(len(texts), dimension)``, norm 1.

        Raises
        ------
        ValueError
            When a text is over :attr:`max_tokens`: a fault of the caller, nothing is cut off silently.
        MemoryError
            When the batch is too large for the device; a smaller one may pass.
        """
        ...

    def embed_query(self, text: str) -> Matrix:
        """Vector of a query with its prefix, shape ``(1, dimension)``, norm 1.

        Raises
        ------
        ConfigurationError
            When the query with its prefix is over :attr:`max_tokens`.
        """
        ...
