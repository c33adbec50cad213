"""Counts served documents by what made them."""

from dataclasses import dataclass

from ingestd.model.identity import Digest
from ingestd.state.engine import Transaction, driver


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Documents of one type of file that the same stages made."""

    mime: str
    convert_digest: Digest
    chunk_digest: Digest
    embed_digest: Digest
    """Of the generation that they are in."""
    documents: int


def served(transaction: Transaction, root_id: int) -> tuple[Served, ...]:
    """Documents of the root that readers see, and that can be made again: their files are there and were read."""
    rows = driver(transaction).execute(
        "SELECT mime, convert_digest, chunk_digest, embed_digest, count(*) FROM source "
        "JOIN document ON source_id = source.id JOIN generation ON generation.id = generation_id "
        "WHERE root_id = :root AND source.state IN ('done', 'pending') AND mime IS NOT NULL AND version > 0 "
        "AND generation.state = 'live' GROUP BY 1, 2, 3, 4",
        {"root": root_id},
    )
    return tuple(
        Served(mime=mime, convert_digest=convert, chunk_digest=chunk, embed_digest=embed, documents=count)
        for mime, convert, chunk, embed, count in rows.fetchall()
    )
