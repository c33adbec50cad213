"""One document as it is served: versions, blocks, chunks."""

from collections.abc import Mapping
from typing import Any

from ingestd.daemon.left_out import why_unknown
from ingestd.errors import ConfigurationError, UnsupportedType
from ingestd.model.document import Document
from ingestd.model.identity import PointId, document_id
from ingestd.model.paths import path_fields
from ingestd.model.source import display, printable
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.publish.payload import timestamp
from ingestd.state import documents, generations, quarantine, roots, sources
from ingestd.state.sources import SourceRow

_CHUNK_FIELDS = (
    "chunk_index",
    "text",
    "body",
    "heading_path",
    "section",
    "char_start",
    "char_end",
    "page_start",
    "page_end",
    "block_types",
    "n_chars",
    "n_tokens",
    "doc_version",
)
_DOCUMENT_FIELDS = ("converter", "chunker", "chunker_version", "embedder", "ingested_at", "modified_at", "tags", "meta")


def show_document(parts: Parts, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One document with its blocks and provenance (while its conversion is cached) and the chunks that the store serves.

    Raises
    ------
    ConfigurationError
        When no root knows the path, or several do.
    """
    plan, source = _find(parts, str(arguments["path"]), arguments.get("root"))
    converted = _converted(plan, source)
    shown: dict[str, Any] = {
        "root": plan.name,
        **path_fields(source.path),
        "state": source.state,
        **_failure(parts, source),
        "mime": source.mime,
        "fingerprint": source.fingerprint,
        "provenance": dict(converted.provenance) if converted else {},
        "blocks": _blocks(converted),
        "chunks": [],
    }
    with parts.ledger.read() as transaction:
        live = generations.live(transaction, plan.collection)
        document = (
            documents.find(transaction, live.id, document_id(parts.instance, plan.name, source.path)) if live else None
        )
        served = documents.points(transaction, document.id) if document else frozenset[PointId]()
    if live is None or document is None or not document.version:
        return shown
    found = parts.collections.store.retrieve(live.generation, sorted(served))
    payloads = sorted((dict(point.payload) for point in found), key=lambda payload: payload["chunk_index"])
    first = payloads[0] if payloads else {}
    return {
        **shown,
        "title": document.title,
        "doc_id": document.doc_id,
        "version": document.version,
        "recipe": document.recipe,
        "served_fingerprint": document.made.fingerprint or first.get("fingerprint"),
        "convert_digest": document.made.convert_digest,
        "embed_digest": live.generation.embed_digest,
        "served_at": timestamp(document.served_ns) if document.served_ns else None,
        **{name: first[name] for name in _DOCUMENT_FIELDS if name in first},
        "chunks": [
            {"index": payload["chunk_index"], **{name: payload.get(name) for name in _CHUNK_FIELDS}}
            for payload in payloads
        ],
    }


def _failure(parts: Parts, source: SourceRow) -> dict[str, str | None]:
    if source.state == "quarantined":
        with parts.ledger.read() as transaction:
            for row in quarantine.all_quarantined(transaction):
                if row.source_id == source.id:
                    return {"reason": row.failure.reason, "stage": row.failure.stage, "error": row.failure.error}
    return {"reason": source.reason, "stage": None, "error": None}


def _find(parts: Parts, path: str, root: str | None) -> tuple[RootPlan, SourceRow]:
    encoded = path.encode("utf-8", "surrogateescape")
    found: list[tuple[RootPlan, SourceRow]] = []
    with parts.ledger.read() as transaction:
        for row in roots.all_roots(transaction):
            plan = parts.roots.get(row.id)
            if plan is None or (root is not None and row.name != root):
                continue
            prefix = row.path.rstrip(b"/") + b"/"
            relative = encoded.removeprefix(prefix) if encoded.startswith(b"/") else encoded
            source = sources.by_path(transaction, row.id, relative)
            if source is not None:
                found.append((plan, source))
    if not found:
        raise ConfigurationError(f"{printable(path)} is no source: {why_unknown(parts, path, root)}")
    if len(found) > 1:
        names = ", ".join(plan.name for plan, _ in found)
        raise ConfigurationError(f"{path} is a source of several roots ({names}): name one with --root")
    return found[0]


def _converted(plan: RootPlan, source: SourceRow) -> Document | None:
    """The document, while its conversion is cached."""
    if source.fingerprint is None or source.mime is None:
        return None
    try:
        return plan.conversions.cached(source.fingerprint, source.mime, display(source.path))
    except UnsupportedType:
        return None


def _blocks(document: Document | None) -> list[dict[str, Any]]:
    if document is None:
        return []
    return [
        {
            "type": block.type.value,
            "level": block.level,
            "page": block.page,
            "bbox": list(block.bbox) if block.bbox else None,
            "char_start": block.start,
            "char_end": block.end,
            "text": block.text,
        }
        for block in document.blocks
    ]
