"""Paths of sources as JSON fields, reversibly."""

import base64
from collections.abc import Mapping
from typing import Any


def path_fields(path: bytes) -> Mapping[str, str]:
    """Path as text; one that is not UTF-8 also comes as Base64, from which it can be had back."""
    try:
        return {"path": path.decode()}
    except UnicodeDecodeError:
        return {"path": path.decode("utf-8", "backslashreplace"), "path_b64": base64.b64encode(path).decode()}


def path_from_fields(fields: Mapping[str, Any]) -> bytes:
    """Inverse of :func:`path_fields`."""
    encoded = fields.get("path_b64")
    return base64.b64decode(encoded) if encoded else str(fields["path"]).encode()
