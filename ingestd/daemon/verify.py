"""Compares disk, ledger and store, point by point; changes nothing."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any

from ingestd.discover.root import Replaced, Vanished, examine
from ingestd.discover.scan import ScanRoot, scan
from ingestd.model.identity import Digest, Fingerprint, PointId, TextHash, point_id, text_hash
from ingestd.model.paths import path_fields, path_from_fields
from ingestd.model.point import StoredPoint
from ingestd.model.source import display
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.scan import recorded_identity, submounts
from ingestd.state import documents, generations, roots, sources
from ingestd.state.documents import DocumentRow
from ingestd.state.engine import Transaction
from ingestd.state.generations import GenerationRow
from ingestd.state.known import KnownInLedger
from ingestd.state.sources import SourceRow

_FIELDS = (
    "doc_id",
    "doc_version",
    "text",
    "text_sha256",
    "chunk_index",
    "chunk_count",
    "fingerprint",
    "recipe",
    "root",
    "path",
    "path_b64",
)
_NORM_TOLERANCE = 1e-3
_MOST_LOOKS = 4


@dataclass(slots=True)
class _Findings:
    documents: int = 0
    points: int = 0
    missing_points: list[dict[str, Any]] = field(default_factory=list)
    orphan_points: list[dict[str, Any]] = field(default_factory=list)
    stale_points: list[dict[str, Any]] = field(default_factory=list)
    unserved_sources: list[dict[str, Any]] = field(default_factory=list)
    ghost_documents: list[dict[str, Any]] = field(default_factory=list)
    unread: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Expected:
    document: DocumentRow
    source: SourceRow
    root: str
    points: frozenset[PointId]
    ids: "dict[TextHash, _Occurrences]" = field(default_factory=dict[TextHash, "_Occurrences"])

    def is_id_of(self, text: TextHash, id_: PointId, generation: GenerationRow) -> bool:
        """Whether a point of the text may have the id."""
        if text not in self.ids:
            self.ids[text] = _Occurrences(self.document, generation, text)
        return id_ in self.ids[text]


def verify_document(parts: Parts) -> dict[str, Any]:
    """The contract's ``verify`` document.

    A point is right when the ledger serves it, its id follows from its text and its document, its payload names the
    served version, fingerprint, recipe and place, and its vector is finite with norm 1. A file is right when it is
    served as it was last seen, or is in quarantine, held or forgotten.

    Ledger and store are read one after the other while documents may change: what differs is looked at again, until
    two looks say the same.
    """
    found = _compare(parts)
    for _ in range(_MOST_LOOKS - 1):
        before = found
        if before["ok"] or (found := _compare(parts)) == before:
            break
    return found


def _compare(parts: Parts) -> dict[str, Any]:
    findings = _Findings()
    with parts.ledger.read() as transaction:
        live = [row for row in generations.all_generations(transaction) if row.state == "live"]
    for generation in live:
        _compare_store(parts, generation, findings)
    for plan in parts.roots.values():
        _compare_ledger(parts, plan, findings)
        _compare_disk(parts, plan, findings)
    kinds = ("missing_points", "orphan_points", "stale_points", "unserved_sources", "ghost_documents", "unread")
    found = {kind: getattr(findings, kind) for kind in kinds}
    return {
        "ok": not any(found.values()),
        "documents": findings.documents,
        "points": findings.points,
        **found,
        "repaired": 0,
    }


def _compare_store(parts: Parts, generation: GenerationRow, findings: _Findings) -> None:
    with parts.ledger.read() as transaction:
        expected = dict(_expected(transaction, parts, generation))
    findings.documents += len(expected)
    found: dict[str, set[PointId]] = {doc_id: set() for doc_id in expected}
    for point in parts.collections.store.scroll(generation.generation, _FIELDS, vectors=True):
        findings.points += 1
        doc_id = str(point.payload.get("doc_id"))
        one = expected.get(doc_id)
        if one is None or point.id not in one.points:
            findings.orphan_points.append(_named(point))
            continue
        found[doc_id].add(point.id)
        wrong = _wrong(point, one, generation)
        if wrong:
            findings.stale_points.append({**_named(point), "why": wrong})
    for doc_id, one in expected.items():
        for missing in sorted(one.points - found[doc_id]):
            findings.missing_points.append({"id": missing, "root": one.root, **path_fields(one.source.path)})


def _expected(transaction: Transaction, parts: Parts, generation: GenerationRow) -> Iterator[tuple[str, _Expected]]:
    names = {id_: plan.name for id_, plan in parts.roots.items()}
    for document in documents.in_generation(transaction, generation.id):
        if document.version == 0:
            continue
        (source,) = sources.by_ids(transaction, [document.source_id])
        points = documents.points(transaction, document.id)
        yield document.doc_id, _Expected(document, source, str(names.get(source.root_id, "")), points)


def _wrong(point: StoredPoint, one: _Expected, generation: GenerationRow) -> str:
    payload, document = point.payload, one.document
    text = text_hash(str(payload.get("text")))
    checks = (
        ("version", payload.get("doc_version") == document.version),
        ("fingerprint", document.made.fingerprint in (None, payload.get("fingerprint"))),
        ("recipe", payload.get("recipe") == document.recipe),
        ("path", path_from_fields(payload) == one.source.path),
        ("root", one.root in ("", payload.get("root"))),
        ("chunk_count", payload.get("chunk_count") == document.chunk_count),
        ("text_sha256", payload.get("text_sha256") == text),
        ("id", one.is_id_of(text, point.id, generation)),
        ("vector", _is_unit(point.vector)),
    )
    return ", ".join(name for name, right in checks if not right)


class _Occurrences:
    """Ids that a text has in one document, each made once: a text may be repeated as often as there are chunks."""

    def __init__(self, document: DocumentRow, generation: GenerationRow, text: TextHash) -> None:
        digest = Digest(generation.generation.embed_digest)
        occurrences = range(document.chunk_count)
        self._more = (point_id(document.doc_id, digest, text, occurrence) for occurrence in occurrences)
        self._made: set[PointId] = set()

    def __contains__(self, id_: PointId) -> bool:
        while id_ not in self._made:
            one = next(self._more, None)
            if one is None:
                return False
            self._made.add(one)
        return True


def _is_unit(vector: tuple[float, ...] | None) -> bool:
    if vector is None or not all(isfinite(value) for value in vector):
        return False
    return abs(sqrt(sum(value * value for value in vector)) - 1) < _NORM_TOLERANCE


def _compare_ledger(parts: Parts, plan: RootPlan, findings: _Findings) -> None:
    """Hold what the ledger says of the root's sources to what it says of their documents."""
    with parts.ledger.read() as transaction:
        served = dict(_served(transaction, plan))
        for source in sources.in_state(transaction, "done", "pending", "gone", root_id=plan.row.id):
            fields = {"root": plan.name, **path_fields(source.path)}
            if source.state == "gone":
                if source.id in served:
                    findings.ghost_documents.append({**fields, "why": "its removal is due"})
            elif source.state == "pending":
                findings.unserved_sources.append({**fields, "why": "pending"})
            elif source.id not in served:
                findings.unserved_sources.append({**fields, "why": "no document"})
            elif source.fingerprint != served[source.id]:
                findings.unserved_sources.append({**fields, "why": "other content is served"})


def _served(transaction: Transaction, plan: RootPlan) -> Iterator[tuple[int, Fingerprint | None]]:
    live = generations.live(transaction, plan.collection)
    if live is not None:
        for document in documents.in_generation(transaction, live.id):
            if document.version:
                yield document.source_id, document.made.fingerprint


def _compare_disk(parts: Parts, plan: RootPlan, findings: _Findings) -> None:
    with closing(KnownInLedger(parts.ledger, plan.row.id)) as known:
        with parts.ledger.read() as transaction:
            recorded = recorded_identity(roots.by_id(transaction, plan.row.id))
        seen = examine(plan.row.path, recorded, known)
        if isinstance(seen, Vanished) or (isinstance(seen, Replaced) and not seen.is_same_tree):
            # Its documents are held: what they are served for cannot be compared with the disk.
            reason = seen.reason if isinstance(seen, Vanished) else f"{display(plan.row.path)} is another directory"
            findings.unread.append({"root": plan.name, **path_fields(b""), "reason": reason})
            return
        root = ScanRoot(
            path=plan.row.path,
            rules=plan.rules,
            identity=seen.identity,
            follow_links=plan.follow_links,
            submounts=submounts(parts, plan),
        )
        for one in scan(root, known, stop=parts.stop.is_set):
            if one.unknown is not None:
                unread = {"root": plan.name, **path_fields(one.directory), "reason": one.unknown}
                findings.unread.append(unread)
            prefix = one.directory + b"/" if one.directory else b""
            for name in (*one.difference.added, *one.difference.changed):
                findings.unserved_sources.append({"root": plan.name, **path_fields(prefix + name)})
            for name in one.difference.removed:
                if _is_served(parts, plan, prefix + name):
                    findings.ghost_documents.append({"root": plan.name, **path_fields(prefix + name)})
            for name in one.excluded:
                if _is_served(parts, plan, prefix + name):
                    fields = path_fields(prefix + name)
                    findings.ghost_documents.append({"root": plan.name, **fields, "why": "the rules leave it out"})


def _is_served(parts: Parts, plan: RootPlan, path: bytes) -> bool:
    with parts.ledger.read() as transaction:
        source = sources.by_path(transaction, plan.row.id, path)
        return source is not None and any(one.version for one in documents.of_source(transaction, source.id))


def _named(point: StoredPoint) -> dict[str, Any]:
    fields = {name: point.payload[name] for name in ("root", "path", "doc_version") if name in point.payload}
    return {"id": point.id, **fields}
