"""Ids of a version's points, and what a swap of two versions comes to."""

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ingestd.model.chunk import Chunk
from ingestd.model.identity import Digest, DocumentId, PointId, TextHash, point_id, text_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """From the points served to the points wanted."""

    lacking: frozenset[PointId]
    """To be added before the commit."""
    kept: frozenset[PointId]
    """Whose payload is overwritten after it."""
    dropped: frozenset[PointId]
    """To be deleted after it."""


def point_ids(chunks: tuple[Chunk, ...], doc_id: DocumentId, embed_digest: Digest) -> tuple[PointId, ...]:
    """Id of each chunk, in order: the same text in the same document keeps its id across versions."""
    occurrences: Counter[TextHash] = Counter()
    ids: list[PointId] = []
    for chunk in chunks:
        text = text_hash(chunk.text)
        ids.append(point_id(doc_id, embed_digest, text, occurrences[text]))
        occurrences[text] += 1
    return tuple(ids)


def swap(wanted: AbstractSet[PointId], served: AbstractSet[PointId]) -> Swap:
    """What has to be added, overwritten and deleted."""
    return Swap(lacking=frozenset(wanted - served), kept=frozenset(wanted & served), dropped=frozenset(served - wanted))
