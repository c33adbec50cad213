"""Brings a group of prepared documents into the store: embedded together, published together."""

from collections.abc import Sequence

from numpy import float32
from numpy.typing import NDArray

from ingestd.embed.embedding import Embedding
from ingestd.errors import IngestdError
from ingestd.model.identity import PointId
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.prepare import Prepared
from ingestd.pipeline.tally import Tally
from ingestd.publish.swap import NewVersion, publish
from ingestd.state import documents, sources
from ingestd.state.engine import Transaction

TEXTS_AT_ONCE = 512
"""Texts handed to the embedder at once: of many it makes batches of one length. The stop flag is looked at after each
batch; the cache keeps what was done."""

_Vector = NDArray[float32]
Vectors = dict[tuple[int, str], _Vector]
"""By the embedding's identity in this process, and the text."""


class Stopped(Exception):
    """The work in hand was given up."""


def embed(parts: Parts, group: Sequence[Prepared], tally: Tally, known: Vectors) -> list[NewVersion]:
    """Versions of the group, with vectors of what the served ones lack.

    Parameters
    ----------
    known
        Vectors that are at hand already.

    Raises
    ------
    Stopped
        When told to stop; what was embedded by then is cached.
    BadVectors, EmbedderUnavailable
        The group stays pending; nothing is lost.
    """
    wanted = lacking_of_each(parts, group)
    vectors = _vectors(parts, group, wanted, tally, known)
    return [
        NewVersion(
            source=prepared.source,
            generation=prepared.generation,
            origin=prepared.origin,
            made=prepared.made,
            chunks=prepared.chunks,
            ids=prepared.ids,
            vectors={id_: vectors[id(prepared.plan.embedding), text] for id_, text in texts.items()},
        )
        for prepared, texts in zip(group, wanted, strict=True)
    ]


def bring_in(parts: Parts, versions: Sequence[NewVersion], tally: Tally) -> None:
    """Publish the versions whose sources are still wanted; while they were embedded, a person may have decided otherwise.

    Raises
    ------
    Stopped
        When told to stop before the first write.
    StoreUnavailable
        The group stays pending; nothing is lost.
    """
    if parts.stop.is_set():
        raise Stopped
    wanted = _still_wanted(parts, versions)
    with tally.timed("publish"):
        published = publish(parts.ledger, parts.collections.store, wanted, parts.clock.wall_ns())
    tally.add("documents", len(wanted))
    tally.add("chunks", sum(len(version.chunks) for version in wanted))
    tally.add("points_written", published.written)
    tally.add("points_deleted", published.deleted)
    tally.add("payloads_overwritten", published.overwritten)


def answers(embedding: Embedding) -> bool:
    """Whether the embedder works at all; a query is never taken from the cache."""
    try:
        embedding.query("ingestd")
    except IngestdError:
        return False
    return True


def lacking(parts: Parts, prepared: Prepared) -> dict[PointId, str]:
    """Texts whose points the served version does not have, by id, in document order."""
    (texts,) = lacking_of_each(parts, [prepared])
    return texts


def lacking_of_each(parts: Parts, group: Sequence[Prepared]) -> list[dict[PointId, str]]:
    """What :func:`lacking` gives for each document of the group, from one look at the ledger."""
    with parts.ledger.read() as transaction:
        served = [documents.served_points(transaction, one.generation.id, one.origin.doc_id) for one in group]
    return [
        {id_: chunk.text for id_, chunk in zip(prepared.ids, prepared.chunks, strict=True) if id_ not in points}
        for prepared, points in zip(group, served, strict=True)
    ]


def _still_wanted(parts: Parts, versions: Sequence[NewVersion]) -> list[NewVersion]:
    with parts.ledger.read() as transaction:
        pending = sources.still_pending(transaction, [version.source.id for version in versions])
        return [
            version
            for version in versions
            # What was served may have been taken out, and its vectors are not at hand then: the source is due again.
            if version.source.id in pending and _lacking(transaction, version) <= version.vectors.keys()
        ]


def _lacking(transaction: Transaction, version: NewVersion) -> set[PointId]:
    return set(version.ids) - documents.served_points(transaction, version.generation.id, version.origin.doc_id)


def embed_texts(parts: Parts, embedding: Embedding, texts: Sequence[str], tally: Tally) -> Vectors:
    """Vectors of distinct texts, with a look at the stop flag between batches.

    Raises
    ------
    Stopped, BadVectors, EmbedderUnavailable
        As :func:`embed`.
    """
    if parts.stop.is_set():
        raise Stopped

    counted = 0

    def stop_between_batches(done: int) -> None:
        nonlocal counted
        # At once: what was embedded stays embedded, however the call ends.
        tally.add("embedded", done)
        counted += done
        parts.between()
        if parts.stop.is_set():
            raise Stopped

    embedded = embedding.vectors(texts, progress=stop_between_batches)
    tally.add("embedded", embedded.embedded - counted)
    tally.add("vectors_reused", embedded.reused)
    tally.spent("embed", embedded.seconds)
    return {(id(embedding), text): row for text, row in zip(texts, embedded.matrix, strict=True)}


def _vectors(
    parts: Parts, group: Sequence[Prepared], wanted: Sequence[dict[PointId, str]], tally: Tally, known: Vectors
) -> Vectors:
    """Vectors of all texts wanted; batches are filled across documents."""
    texts_of: dict[int, tuple[Embedding, dict[str, None]]] = {}
    for prepared, texts in zip(group, wanted, strict=True):
        embedding = prepared.plan.embedding
        unknown = (text for text in texts.values() if (id(embedding), text) not in known)
        texts_of.setdefault(id(embedding), (embedding, {}))[1].update(dict.fromkeys(unknown))
    vectors = dict(known)
    for embedding, distinct in texts_of.values():
        texts_left = list(distinct)
        while texts_left:
            piece, texts_left = texts_left[:TEXTS_AT_ONCE], texts_left[TEXTS_AT_ONCE:]
            vectors.update(embed_texts(parts, embedding, piece, tally))
    return vectors
