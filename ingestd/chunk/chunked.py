"""What a chunker makes of a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingestd.model.chunk import Chunk, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """All that became of a document's blocks: each is in a chunk, or skipped."""

    chunks: tuple[Chunk, ...]
    skipped: tuple[Skipped, ...]
    seeds: tuple[Mapping[str, Any], ...] = ()
    """In the profile ``compat`` for each chunk what the published package says of it beside its text, JSON values:
    ``metadata`` of grain-growth, ``start``, ``end`` and ``heading_path`` of structure-first."""
