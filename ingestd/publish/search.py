"""Nearest chunks, as readers should see them: hits that the ledger does not serve are dropped."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingestd.model.identity import PointId
from ingestd.model.point import Hit, SearchFilter
from ingestd.ports.store import Store
from ingestd.state import documents
from ingestd.state.engine import Ledger
from ingestd.state.generations import GenerationRow

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


def search(
    ledger: Ledger,
    store: Store,
    generation: GenerationRow,
    vector: NDArray[np.float32],
    limit: int,
    narrowed: SearchFilter,
) -> list[dict[str, Any]]:
    """Nearest served chunks of one generation, best first.

    Raises
    ------
    StoreUnavailable
        When the store does not answer.
    """
    asked = limit + _SPARE
    while True:
        found = store.search(generation.generation, vector, asked, narrowed)
        served = _served(ledger, generation, found)
        if len(served) >= limit or len(found) < asked:
            return [_hit(hit) for hit in served[:limit]]
        asked *= 4


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
