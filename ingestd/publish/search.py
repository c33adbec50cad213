"""Nearest chunks, as readers should see them: hits that the ledger does not serve are dropped."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ingestd.model.identity import PointId
from ingestd.model.point import Hit, SearchFilter
from ingestd.ports.store import Store
from ingestd.state import documents
from ingestd.state.engine import Ledger
from ingestd.state.generations import GenerationRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FIELDS = (
    "path",
    "path_b64",
    "root",
    "title",
    "heading_path",
    "page_start",
    "page_end",
    "chunk_index",
    "doc_version",
    "text",
    "body",
    "doc_id",
    "section",
    "char_start",
    "char_end",
    "tags",
)
_SPARE = 20
"""Hits asked for beyond the limit: for the moment between two versions both may be found."""
_MOST_LOOKS = 8
"""Documents that change faster than one can look are given as they were last seen."""


def search(
    ledger: Ledger,
    store: Store,
    generation: GenerationRow,
    vector: "NDArray[np.float32]",
    limit: int,
    narrowed: SearchFilter,
) -> list[dict[str, Any]]:
    """Nearest served chunks of one generation, best first.

    Store and ledger are read one after the other. When the ledger refuses hits, a version may have been served in
    between, and what it added may not have been found: both are read again until they refuse the same ones twice.

    Raises
    ------
    StoreUnavailable
        When the store does not answer.
    """
    asked = limit + _SPARE
    refused_before = frozenset[PointId]()
    looks = 0
    while True:
        found = store.search(generation.generation, vector, asked, narrowed)
        served = _served(ledger, generation, found)
        refused = frozenset(hit.id for hit in found) - {hit.id for hit in served}
        looks += 1
        if refused != refused_before and looks < _MOST_LOOKS:
            refused_before = refused
        elif len(served) >= limit or len(found) < asked:
            return [_hit(hit) for hit in served[:limit]]
        else:
            asked, refused_before, looks = asked * 4, frozenset[PointId](), 0


def merge(found: Sequence[Sequence[dict[str, Any]]], limit: int) -> list[dict[str, Any]]:
    """Best hits of several generations."""
    return sorted((hit for hits in found for hit in hits), key=lambda hit: -float(hit["score"]))[:limit]


def _served(ledger: Ledger, generation: GenerationRow, found: Sequence[Hit]) -> list[Hit]:
    with ledger.read() as transaction:
        return [
            hit
            for hit in found
            if documents.is_served(transaction, generation.id, str(hit.payload["doc_id"]), PointId(hit.id))
        ]


def _hit(hit: Hit) -> dict[str, Any]:
    fields = {name: hit.payload[name] for name in _FIELDS if name in hit.payload}
    return {"score": round(hit.score, 6), "id": hit.id, **fields}
