"""What is embedded: a piece of a document with where it stands."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk of a document."""

    text: str
    """The exact string embedded: heading path and body."""
    body: str
    heading_path: tuple[str, ...] = ()
    """Ancestors and the chunk's own heading, outermost first, each with its ``#`` marks."""
    title: str
    section: str = ""
    """Text of the innermost heading, without marks."""
    char_start: int
    """First character in the document's Markdown."""
    char_end: int
    """One past the last character in the document's Markdown."""
    page_start: int | None = None
    """1-based."""
    page_end: int | None = None
    """1-based, inclusive."""
    block_types: tuple[str, ...] = ()
    """Sorted, unique."""
    index: int
    """0-based, in document order."""
    n_chars: int
    """Characters of ``body``."""
    n_tokens: int
    """Tokens of ``text`` by the embedder's own tokenizer, special tokens included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A block that is in no chunk, and why."""

    block: int
    """Index into the document's blocks."""
    type: str
    reason: str


def chunk_as_json(chunk: Chunk) -> dict[str, Any]:
    """Chunk as JSON values, with the field names of the contract."""
    value = asdict(chunk)
    value["heading_path"] = list(chunk.heading_path)
    value["block_types"] = list(chunk.block_types)
    return value


def chunk_from_json(value: dict[str, Any]) -> Chunk:
    """Chunk from what :func:`chunk_as_json` gave."""
    fields = dict(value)
    fields["heading_path"] = tuple(value["heading_path"])
    fields["block_types"] = tuple(value["block_types"])
    return Chunk(**fields)
