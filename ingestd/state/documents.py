"""Documents and the points of their served versions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ingestd.model.identity import Digest, DocumentId, Fingerprint, PointId
from ingestd.state import facts
from ingestd.state.engine import Transaction, driver
from ingestd.state.point_ids import point_bytes, point_text

_FLOOR = "version-floor"

_COLUMNS = (
    "id, generation_id, doc_id, source_id, version, last_version, fingerprint, convert_digest, chunk_digest, "
    "facts_digest, recipe, title, chunk_count, served_ns"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a version was made from: equal to what would be made now, nothing needs doing."""

    fingerprint: Fingerprint | None
    convert_digest: Digest
    chunk_digest: Digest
    facts_digest: Digest
    """Over what the payload says beside the text: path, tags, times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """A document in one generation."""

    id: int
    generation_id: int
    doc_id: DocumentId
    source_id: int
    version: int
    """Served; 0 when none is."""
    last_version: int
    """Highest that was ever used, by an intent too: the next is above it."""
    made: Made
    recipe: str
    title: str
    chunk_count: int
    served_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedVersion:
    """What the transaction that serves a version states."""

    version: int
    made: Made
    recipe: str
    title: str
    chunk_count: int


def find(transaction: Transaction, generation_id: int, doc_id: DocumentId) -> DocumentRow | None:
    """Document in the generation."""
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM document WHERE generation_id = :generation AND doc_id = :doc",
        {"generation": generation_id, "doc": doc_id},
    )
    return next(map(_row, rows.fetchall()), None)


def of_source(transaction: Transaction, source_id: int) -> tuple[DocumentRow, ...]:
    """The source's documents, one for each generation that has it."""
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM document WHERE source_id = :source ORDER BY generation_id", {"source": source_id}
    )
    return tuple(map(_row, rows.fetchall()))


def in_generation(transaction: Transaction, generation_id: int) -> tuple[DocumentRow, ...]:
    """Every document of the generation."""
    rows = driver(transaction).execute(
        f"SELECT {_COLUMNS} FROM document WHERE generation_id = :generation ORDER BY id",
        {"generation": generation_id},
    )
    return tuple(map(_row, rows.fetchall()))


def ensure(transaction: Transaction, generation_id: int, doc_id: DocumentId, source_id: int) -> DocumentRow:
    """Row of the document, made when it is new; it belongs to the source from now on.

    Its versions go on above those of every document that was dropped: it may be one of them, and a write that was
    meant for it then and comes late must find a higher version.
    """
    made = driver(transaction).execute(
        "INSERT INTO document(generation_id, doc_id, source_id, last_version) "
        "VALUES(:generation, :doc, :source, "
        "coalesce((SELECT CAST(value AS INTEGER) FROM fact WHERE key = :floor), 0)) "
        f"ON CONFLICT(generation_id, doc_id) DO UPDATE SET source_id = :source RETURNING {_COLUMNS}",
        {"generation": generation_id, "doc": doc_id, "source": source_id, "floor": _FLOOR},
    )
    return _row(made.fetchone())


def points(transaction: Transaction, document_id: int) -> frozenset[PointId]:
    """Ids of the served version."""
    rows = driver(transaction).execute("SELECT id FROM point WHERE document_id = :id", {"id": document_id})
    return frozenset(point_text(id_) for (id_,) in rows)


def served_points(transaction: Transaction, generation_id: int, doc_id: DocumentId) -> frozenset[PointId]:
    """Ids of the version served of the document in the generation; none where there is no such document."""
    rows = driver(transaction).execute(
        "SELECT point.id FROM document JOIN point ON point.document_id = document.id "
        "WHERE generation_id = :generation AND doc_id = :doc",
        {"generation": generation_id, "doc": doc_id},
    )
    return frozenset(point_text(id_) for (id_,) in rows)


def set_points(
    transaction: Transaction, document_id: int, *, add: Collection[PointId], remove: Collection[PointId]
) -> None:
    """Change the ids of the served version."""
    if remove:
        driver(transaction).executemany(
            "DELETE FROM point WHERE document_id = :document AND id = :id",
            [{"document": document_id, "id": point_bytes(id_)} for id_ in remove],
        )
    if add:
        driver(transaction).executemany(
            "INSERT INTO point(document_id, id) VALUES(:document, :id) ON CONFLICT DO NOTHING",
            [{"document": document_id, "id": point_bytes(id_)} for id_ in add],
        )


def serve(transaction: Transaction, document_id: int, served: ServedVersion, now_ns: int) -> None:
    """State that readers see this version."""
    fingerprint = served.made.fingerprint
    driver(transaction).execute(
        "UPDATE document SET version = :version, last_version = max(last_version, :version), "
        "fingerprint = :fingerprint, convert_digest = :convert, chunk_digest = :chunk, facts_digest = :facts, "
        "recipe = :recipe, title = :title, chunk_count = :chunks, served_ns = :now WHERE id = :id",
        {
            "id": document_id,
            "version": served.version,
            "fingerprint": bytes.fromhex(fingerprint) if fingerprint else None,
            "convert": served.made.convert_digest,
            "chunk": served.made.chunk_digest,
            "facts": served.made.facts_digest,
            "recipe": served.recipe,
            "title": served.title,
            "chunks": served.chunk_count,
            "now": now_ns,
        },
    )


def used_version(transaction: Transaction, document_id: int, version: int) -> None:
    """A version was used, whether it will be served or not."""
    driver(transaction).execute(
        "UPDATE document SET last_version = max(last_version, :version) WHERE id = :id",
        {"id": document_id, "version": version},
    )


def unserve(transaction: Transaction, document_id: int) -> None:
    """Readers see no version; its points are in the outbox."""
    transaction.exec_driver_sql("DELETE FROM point WHERE document_id = :id", {"id": document_id})
    transaction.exec_driver_sql(
        "UPDATE document SET version = 0, chunk_count = 0, served_ns = NULL WHERE id = :id", {"id": document_id}
    )


def adopt(transaction: Transaction, document_id: int, found: Mapping[PointId, int]) -> None:
    """Take what the store holds (id → version) for the served version; it is made again, from nothing known."""
    newest = max(found.values(), default=0)
    key = {"id": document_id}
    for table in ("outbox", "intent", "point"):
        transaction.exec_driver_sql(f"DELETE FROM {table} WHERE document_id = :id", key)
    set_points(transaction, document_id, add=found, remove=())
    transaction.exec_driver_sql(
        "UPDATE document SET version = :version, last_version = max(last_version, :version), fingerprint = NULL, "
        "convert_digest = '', chunk_digest = '', facts_digest = '', recipe = '', chunk_count = :chunks "
        "WHERE id = :id",
        {**key, "version": newest, "chunks": len(found)},
    )


def drop(transaction: Transaction, document_id: int) -> None:
    """Drop a document that serves nothing and has nothing in the outbox."""
    used = transaction.exec_driver_sql("SELECT last_version FROM document WHERE id = :id", {"id": document_id}).scalar()
    raise_floor(transaction, int(used or 0))
    transaction.exec_driver_sql(
        "DELETE FROM document WHERE id = :id AND version = 0 "
        "AND NOT EXISTS (SELECT 1 FROM outbox WHERE document_id = :id) "
        "AND NOT EXISTS (SELECT 1 FROM intent WHERE document_id = :id)",
        {"id": document_id},
    )


def raise_floor(transaction: Transaction, version: int) -> None:
    """Documents that are new from now on get versions above this one."""
    if version > _floor(transaction):
        facts.state(transaction, _FLOOR, str(version))


def is_pinned(transaction: Transaction, fingerprint: Fingerprint, convert_digest: Digest) -> bool:
    """Whether a served version was made from this conversion: its cached result is not to be evicted."""
    found = transaction.exec_driver_sql(
        "SELECT 1 FROM document WHERE fingerprint = :fingerprint AND convert_digest = :digest AND version > 0",
        {"fingerprint": bytes.fromhex(fingerprint), "digest": convert_digest},
    )
    return found.first() is not None


def is_served(transaction: Transaction, generation_id: int, doc_id: str, point: PointId) -> bool:
    """Whether the point belongs to the version that readers should see."""
    return (
        transaction.exec_driver_sql(
            "SELECT 1 FROM document JOIN point ON point.document_id = document.id "
            "WHERE generation_id = :generation AND doc_id = :doc AND point.id = :point",
            {"generation": generation_id, "doc": doc_id, "point": point_bytes(point)},
        ).first()
        is not None
    )


def _floor(transaction: Transaction) -> int:
    return int(facts.read(transaction, _FLOOR) or 0)


def _row(row: tuple[Any, ...]) -> DocumentRow:
    (id_, generation_id, doc_id, source_id, version, last_version, fingerprint, *digests, recipe, title, count, at) = (
        row
    )
    convert_digest, chunk_digest, facts_digest = map(Digest, digests)
    return DocumentRow(
        id=id_,
        generation_id=generation_id,
        doc_id=DocumentId(doc_id),
        source_id=source_id,
        version=version,
        last_version=last_version,
        made=Made(
            fingerprint=Fingerprint(bytes(fingerprint).hex()) if fingerprint is not None else None,
            convert_digest=convert_digest,
            chunk_digest=chunk_digest,
            facts_digest=facts_digest,
        ),
        recipe=recipe,
        title=title,
        chunk_count=count,
        served_ns=at,
    )
