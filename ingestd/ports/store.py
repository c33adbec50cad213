"""Where points are kept."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from ingestd.model.identity import Instance, PointId
from ingestd.model.point import Claim, Deletion, Generation, Hit, PayloadOverwrite, Points, SearchFilter, StoredPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Store(Protocol):
    """A vector store that can fence writes by ``doc_version``.

    Writes are idempotent: each may be repeated any number of times with the same result. Nothing is durable before
    :meth:`flush` returned. Every method raises :class:`~ingestd.errors.StoreUnavailable` when the store cannot be
    reached or is out of service. Writes and deletions touch only points whose payload field ``ingestd`` is the
    instance that the store was opened for.
    """

    def prepare(self, generation: Generation) -> bool:
        """Make the physical collection with its payload indexes, when it is not there; say whether it was made.

        Raises
        ------
        StoreMismatch
            When one of that name exists that was not made by ingestd, or has another dimension or distance.
        """
        ...

    def generations(self) -> tuple[str, ...]:
        """Physical names that exist and were made by ingestd, sorted."""
        ...

    def claim(self, generation: Generation) -> Claim | None:
        """Claim recorded in the collection, if any."""
        ...

    def record_claim(self, generation: Generation, claim: Claim) -> None:
        """Record the claim durably."""
        ...

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        """Insert the points; one that exists is replaced only where its ``doc_version`` is below the new one."""
        ...

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        """Replace the payloads of points that exist with a lower ``doc_version``; vectors stay."""
        ...

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        """Delete the points whose ``doc_version`` is below what their deletion says."""
        ...

    def flush(self, generation: Generation) -> None:
        """Return when all that was written so far survives a power loss."""
        ...

    def search(
        self, generation: Generation, vector: "NDArray[np.float32]", limit: int, narrowed: SearchFilter
    ) -> tuple[Hit, ...]:
        """Nearest points of this instance, best first; ``vector`` has shape ``(d,)``."""
        ...

    def scroll(self, generation: Generation, fields: Sequence[str], *, vectors: bool = False) -> Iterator[StoredPoint]:
        """All points of this instance with the payload fields named, in the order of their ids."""
        ...

    def retrieve(self, generation: Generation, ids: Sequence[PointId]) -> tuple[StoredPoint, ...]:
        """Those of the points that exist, with their whole payload."""
        ...

    def count(self, generation: Generation) -> int:
        """How many points of this instance the collection holds."""
        ...

    def publish_alias(self, generation: Generation) -> None:
        """Have readers of the collection's name see this generation, in one step; nothing where names are not shared.

        Repeatable. A store without aliases is read through ingestd alone, which knows the live generation.
        """
        ...

    def drop(self, generation: Generation) -> None:
        """Remove the physical collection, if it is there."""
        ...

    def close(self) -> None:
        """Flush what was written, then let go of connections and processes."""
        ...


class StoreFactory(Protocol):
    """Entry point of group ``ingestd.stores``."""

    def __call__(self, instance: Instance, options: dict[str, object]) -> Store:
        """Store for the instance; raises ``AdapterUnavailable`` when its engine is not installed."""
        ...
