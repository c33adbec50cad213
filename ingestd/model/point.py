"""What a store keeps of a chunk, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ingestd.model.identity import CollectionName, DocumentId, Instance, PointId

if TYPE_CHECKING:
    # NumPy costs a command that touches no vector a tenth of a second.
    from ingestd.model.vectors import Matrix

Payload = Mapping[str, Any]
"""JSON values under the contract's field names; ``doc_id``, ``doc_version`` and ``ingestd`` are always there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One physical collection."""

    collection: CollectionName
    number: int
    dimension: int
    embed_digest: str

    @property
    def name(self) -> str:
        """Physical name: ``<collection>.g<number>``."""
        return f"{self.collection}.g{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Points of one document version that are to be written."""

    document: DocumentId
    version: int
    ids: tuple[PointId, ...]
    payloads: tuple[Payload, ...]
    vectors: "Matrix"
    """Shape ``(len(ids), dimension)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadOverwrite:
    """New payload of a point that the served version keeps."""

    id: PointId
    version: int
    """Written only where the stored ``doc_version`` is below this."""
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """A point that the served version dropped."""

    id: PointId
    below_version: int
    """Deleted only where the stored ``doc_version`` is below this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPoint:
    """What a scan of the store says of one point."""

    id: PointId
    payload: Payload
    """Only the fields asked for."""
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A search result."""

    id: PointId
    score: float
    """Cosine similarity."""
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """What narrows a search; every field given must match."""

    root: str | None = None
    path_prefix: str | None = None
    """Payload ``path`` equals it or lies below it."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who owns a physical collection, recorded in the store."""

    instance: Instance
    state_id: str
    """Random id of the state directory that writes to it."""
    token: str
    """Changed at every start and stop of the owner; equal in ledger and store after a clean stop."""
