"""The payload as Qdrant holds it: the contract's fields, one of our own, and which of them are indexed."""

from collections.abc import Mapping
from typing import Any, Literal

from ingestd.model.point import Payload

FOLDERS = "folders"
"""Every folder above ``path``, outermost first: a keyword that finds all below one of them with an exact match, which
each server since the floor version and the embedded engine answer alike."""
INDEXED: Mapping[str, Literal["keyword", "integer", "datetime"]] = {
    "root": "keyword",
    "path": "keyword",
    FOLDERS: "keyword",
    "doc_id": "keyword",
    "doc_version": "integer",
    "fingerprint": "keyword",
    "text_sha256": "keyword",
    "recipe": "keyword",
    "chunker_version": "integer",
    "mime": "keyword",
    "modified_at": "datetime",
    "ingested_at": "datetime",
    "tags": "keyword",
    "ingestd": "keyword",
}


def kept(payload: Payload) -> dict[str, Any]:
    """Payload as it is stored: with the folders above its path."""
    if FOLDERS in payload:
        raise ValueError(f"the payload field {FOLDERS} is made by the store and cannot be given")
    path = payload.get("path")
    return {**payload, FOLDERS: folders(path)} if isinstance(path, str) else dict(payload)


def given(stored: Payload | None) -> dict[str, Any]:
    """Payload as it was given: without what :func:`kept` added."""
    return {field: value for field, value in (stored or {}).items() if field != FOLDERS}


def folders(path: str) -> list[str]:
    """Folders above a path, outermost first: ``a/b/c.md`` gives ``a`` and ``a/b``."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def below(prefix: str | None) -> str | None:
    """Path prefix as it is matched: without a closing slash; ``None`` where it narrows nothing."""
    return (prefix or "").rstrip("/") or None
