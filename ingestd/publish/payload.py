"""What a point says beside its vector: the public contract's fields."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from ingestd.model.chunk import Chunk
from ingestd.model.document import Document
from ingestd.model.identity import Digest, DocumentId, Fingerprint, Instance, text_hash
from ingestd.model.paths import path_fields
from ingestd.model.recipe import Recipe
from ingestd.model.source import SourceKey

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the payload says of the file itself."""

    key: SourceKey
    mime: str
    modified_ns: int
    tags: tuple[str, ...]

    @property
    def digest(self) -> Digest:
        """Digest: other facts mean new payloads, never new vectors."""
        value = [self.key.root, self.key.path.hex(), self.mime, self.modified_ns, *self.tags]
        return Digest(sha256(json.dumps(value).encode()).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What all chunks of one version share."""

    instance: Instance
    doc_id: DocumentId
    fingerprint: Fingerprint
    facts: Facts
    recipe: Recipe
    document: Document
    chunk_count: int


def payload(chunk: Chunk, origin: Origin, version: int, ingested_ns: int) -> dict[str, Any]:
    """Payload of one chunk."""
    (one,) = payloads((chunk,), origin, version, ingested_ns)
    return one


def payloads(chunks: Iterable[Chunk], origin: Origin, version: int, ingested_ns: int) -> tuple[dict[str, Any], ...]:
    """Payload of each of a version's chunks; what they share is made once."""
    shared = _shared(origin, version, ingested_ns)
    return tuple(_own(chunk) | shared for chunk in chunks)


def _own(chunk: Chunk) -> dict[str, Any]:
    return {
        "text": chunk.text,
        "body": chunk.body,
        "heading_path": list(chunk.heading_path),
        "title": chunk.title,
        "section": chunk.section,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "block_types": list(chunk.block_types),
        "chunk_index": chunk.index,
        "n_chars": chunk.n_chars,
        "n_tokens": chunk.n_tokens,
        "text_sha256": text_hash(chunk.text),
    }


def _shared(origin: Origin, version: int, ingested_ns: int) -> dict[str, Any]:
    facts, recipe = origin.facts, origin.recipe
    return {
        "chunk_count": origin.chunk_count,
        "root": facts.key.root,
        **path_fields(facts.key.path),
        "doc_id": origin.doc_id,
        "doc_version": version,
        "fingerprint": origin.fingerprint,
        "recipe": recipe.digest,
        "converter": origin.document.converter,
        "chunker": recipe.chunk.name,
        "chunker_version": recipe.chunk.version,
        "embedder": recipe.embed.name,
        "mime": facts.mime,
        "modified_at": timestamp(facts.modified_ns),
        "ingested_at": timestamp(ingested_ns),
        "tags": list(facts.tags),
        "meta": dict(origin.document.meta),
        "ingestd": origin.instance,
    }


def timestamp(time_ns: int) -> str:
    """RFC 3339 in UTC, to the second; times out of the calendar's range are clamped."""
    seconds = min(max(time_ns // _NANOSECONDS, -62135596800), 253402300799)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
