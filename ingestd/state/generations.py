"""Physical collections, and which of them readers see."""

from dataclasses import dataclass

from sqlalchemy import RowMapping

from ingestd.model.identity import CollectionName
from ingestd.model.point import Generation
from ingestd.state import facts
from ingestd.state.engine import Transaction

_COLUMNS = "id, collection, number, dimension, embed_digest, embedder, state"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRow:
    """A generation in the ledger."""

    id: int
    generation: Generation
    embedder: str
    """JSON: the embedder's configuration (name and options), to embed queries for this generation."""
    state: str
    """``building``, ``live`` or ``retired``."""


def live(transaction: Transaction, collection: CollectionName) -> GenerationRow | None:
    """Generation that readers of the collection see."""
    return _one(transaction, "collection = :collection AND state = 'live'", collection=collection)


def building(transaction: Transaction, collection: CollectionName) -> GenerationRow | None:
    """Generation that is being built beside the live one."""
    return _one(transaction, "collection = :collection AND state = 'building'", collection=collection)


def by_id(transaction: Transaction, generation_id: int) -> GenerationRow:
    """Generation of that id."""
    row = _one(transaction, "id = :id", id=generation_id)
    if row is None:
        raise LookupError(f"the ledger has no generation {generation_id}")
    return row


def all_generations(transaction: Transaction) -> tuple[GenerationRow, ...]:
    """Every generation, by collection and number."""
    rows = transaction.exec_driver_sql(f"SELECT {_COLUMNS} FROM generation ORDER BY collection, number")
    return tuple(_row(row) for row in rows.mappings())


def add(transaction: Transaction, generation: Generation, embedder: str, state: str, now_ns: int) -> GenerationRow:
    """State that a generation exists."""
    transaction.exec_driver_sql(
        "INSERT INTO generation(collection, number, dimension, embed_digest, embedder, state, created_ns) "
        "VALUES(:collection, :number, :dimension, :digest, :embedder, :state, :now)",
        {
            "collection": generation.collection,
            "number": generation.number,
            "dimension": generation.dimension,
            "digest": generation.embed_digest,
            "embedder": embedder,
            "state": state,
            "now": now_ns,
        },
    )
    row = _one(
        transaction,
        "collection = :collection AND number = :number",
        collection=generation.collection,
        number=generation.number,
    )
    assert row is not None
    return row


def switch(transaction: Transaction, old_id: int | None, new_id: int) -> None:
    """Have readers see the new generation in place of the old one."""
    if old_id is not None:
        transaction.exec_driver_sql("UPDATE generation SET state = 'retired' WHERE id = :id", {"id": old_id})
    transaction.exec_driver_sql("UPDATE generation SET state = 'live' WHERE id = :id", {"id": new_id})


def retire(transaction: Transaction, generation_id: int) -> None:
    """Nobody sees the generation, and the ledger forgets its documents: the collection is about to be dropped."""
    key = {"id": generation_id}
    transaction.exec_driver_sql("DELETE FROM document WHERE generation_id = :id", key)
    transaction.exec_driver_sql("UPDATE generation SET state = 'retired' WHERE id = :id", key)


def paused(transaction: Transaction, collection: CollectionName) -> str:
    """Why ingestion into the collection waits; empty when it does not."""
    return facts.read(transaction, f"paused:{collection}") or ""


def pause(transaction: Transaction, collection: CollectionName, reason: str) -> None:
    """State why ingestion into the collection waits; empty when it goes on."""
    facts.state(transaction, f"paused:{collection}", reason)


def drop(transaction: Transaction, generation_id: int) -> None:
    """Drop a generation whose collection is gone, with all that the ledger says of its documents."""
    key = {"id": generation_id}
    transaction.exec_driver_sql("DELETE FROM document WHERE generation_id = :id", key)
    transaction.exec_driver_sql("DELETE FROM generation WHERE id = :id", key)


def _one(transaction: Transaction, condition: str, **values: object) -> GenerationRow | None:
    row = (
        transaction.exec_driver_sql(f"SELECT {_COLUMNS} FROM generation WHERE {condition}", values)
        .mappings()
        .one_or_none()
    )
    return None if row is None else _row(row)


def _row(values: RowMapping) -> GenerationRow:
    return GenerationRow(
        id=values["id"],
        generation=Generation(
            collection=CollectionName(values["collection"]),
            number=values["number"],
            dimension=values["dimension"],
            embed_digest=values["embed_digest"],
        ),
        embedder=values["embedder"],
        state=values["state"],
    )
