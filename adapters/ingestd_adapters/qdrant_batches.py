"""Writes cut into batches that a store takes at once: bounded in points, bounded in bytes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingestd.model.identity import Instance, PointId
from ingestd.model.point import Deletion, Generation, Payload, PayloadOverwrite, Points
from ingestd.model.writable import check_id, encoded_overwrite, encoded_points

if TYPE_CHECKING:
    # NumPy costs a command that touches no vector a tenth of a second.
    from ingestd.model.vectors import Matrix

MOST_POINTS = 256
MOST_BYTES = 16 * 1024 * 1024
"""A server refuses requests over 32 MiB; JSON spends up to 12 bytes on a number of 4."""
MOST_DELETIONS = 1_000
_NUMBER_BYTES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Points of any documents with one fence; everything in the order of the ids."""

    version: int
    ids: tuple[PointId, ...]
    payloads: tuple[Payload, ...]
    encoded: tuple[bytes, ...]
    """The payloads as UTF-8 JSON."""
    vectors: "Matrix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrites:
    """Payloads to overwrite with, beside their UTF-8 JSON."""

    items: tuple[PayloadOverwrite, ...]
    encoded: tuple[bytes, ...]


def upserts(instance: Instance, generation: Generation, points: Sequence[Points]) -> Iterator[Batch]:
    """Batches of what is to be written; all of it is checked before the first batch comes.

    A batch that holds one point only may be over the bound in bytes.
    """
    import numpy as np

    by_version: defaultdict[int, list[tuple[Points, int, bytes]]] = defaultdict(list)
    for written in points:
        for row, payload in enumerate(encoded_points(instance, generation, written)):
            by_version[written.version].append((written, row, payload))
    for version, rows in by_version.items():
        for first, end in _cuts([len(payload) + _NUMBER_BYTES * generation.dimension for _, _, payload in rows]):
            cut = rows[first:end]
            yield Batch(
                version=version,
                ids=tuple(written.ids[row] for written, row, _ in cut),
                payloads=tuple(written.payloads[row] for written, row, _ in cut),
                encoded=tuple(payload for _, _, payload in cut),
                vectors=np.ascontiguousarray([written.vectors[row] for written, row, _ in cut], dtype=np.float32),
            )


def overwrites(instance: Instance, given: Sequence[PayloadOverwrite]) -> Iterator[Overwrites]:
    """Batches of payloads in the order given, all checked before the first comes."""
    encoded = [encoded_overwrite(instance, overwrite) for overwrite in given]
    for first, end in _cuts([len(payload) for payload in encoded]):
        yield Overwrites(items=tuple(given[first:end]), encoded=tuple(encoded[first:end]))


def deletions(given: Sequence[Deletion]) -> Iterator[tuple[int, tuple[PointId, ...]]]:
    """Ids by the version that they must be below, cut."""
    by_version: defaultdict[int, list[PointId]] = defaultdict(list)
    for deletion in given:
        check_id(deletion.id)
        by_version[deletion.below_version].append(deletion.id)
    for version, ids in by_version.items():
        for cut in pages(ids, MOST_DELETIONS):
            yield version, cut


def pages(ids: Sequence[PointId], size: int) -> Iterator[tuple[PointId, ...]]:
    """Ids in runs of at most that size."""
    for first in range(0, len(ids), size):
        yield tuple(ids[first : first + size])


def _cuts(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    first, filled = 0, 0
    for position, size in enumerate(sizes):
        if position > first and (position - first == MOST_POINTS or filled + size > MOST_BYTES):
            yield first, position
            first, filled = position, 0
        filled += size
    if first < len(sizes):
        yield first, len(sizes)
