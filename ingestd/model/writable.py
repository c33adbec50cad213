"""What a store may be given to write.

Vectors that are not finite become null in JSON without a word, lone surrogates and odd numbers end the engine's call
half-way: what is refused here is a fault of an earlier stage, so it is a :class:`ValueError` and no error of the tree.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ingestd.model.identity import Instance, PointId
from ingestd.model.point import Generation, Payload, PayloadOverwrite, Points

if TYPE_CHECKING:
    # NumPy costs a command that touches no vector a tenth of a second.
    import numpy as np
    from numpy.typing import NDArray

_LEAST_INTEGER = -(2**63)
_MOST_INTEGER = 2**63 - 1
_CANONICAL = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_WITHOUT_INTEGERS = frozenset({str, list, bool, float, type(None)})
"""What is told apart by its type alone: a payload has thirty fields, and there is one for every chunk."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encoded_points(instance: Instance, generation: Generation, points: Points) -> tuple[bytes, ...]:
    """Payloads as UTF-8 JSON, in the order of the ids.

    Raises
    ------
    ValueError
        When ids, payloads and vectors do not belong together, a vector is not finite or has no length, or a payload
        cannot be stored.
    """
    _check_together(points)
    check_vectors(points.vectors, len(points.ids), generation.dimension)
    for point in points.ids:
        check_id(point)
    if any(payload.get("doc_id") != points.document for payload in points.payloads):
        raise ValueError(f"a payload of document {points.document} names another doc_id")
    return tuple(encoded_payload(instance, points.version, payload) for payload in points.payloads)


def encoded_overwrite(instance: Instance, overwrite: PayloadOverwrite) -> bytes:
    """Payload of the overwrite as UTF-8 JSON; raises :class:`ValueError` as :func:`encoded_points` does."""
    check_id(overwrite.id)
    return encoded_payload(instance, overwrite.version, overwrite.payload)


def encoded_payload(instance: Instance, version: int, payload: Payload) -> bytes:
    """UTF-8 JSON of a payload that carries the instance's marker and the version of its fence.

    Raises
    ------
    ValueError
        When marker or fence differ, a number is not finite or over 64 bits, or a text holds a lone surrogate.
    """
    if payload.get("ingestd") != instance:
        raise ValueError(
            f"a payload carries the instance {payload.get('ingestd')!r}, the store writes for {instance!r}"
        )
    if payload.get("doc_version") != version:
        raise ValueError(f"a payload carries doc_version {payload.get('doc_version')!r} below a fence of {version}")
    try:
        encoded = _ENCODER.encode(payload).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ValueError(f"the payload field {_culprit(payload)} cannot be stored: {error}") from error
    for key, value in payload.items():
        # Fields of our own are flat and small; only front matter nests, and walking lists of text costs 50 us a point.
        if type(value) in _WITHOUT_INTEGERS:
            continue
        if isinstance(value, int):
            _check_integer(key, value)
        elif isinstance(value, dict):
            _check_integers(key, value)  # pyright: ignore[reportUnknownArgumentType]  # JSON values are Any
    return encoded


def check_vectors(vectors: "NDArray[np.float32]", rows: int, dimension: int) -> None:
    """Refuse, by :class:`ValueError`, vectors of another shape, not finite, or without length."""
    import numpy as np

    if vectors.shape != (rows, dimension):
        raise ValueError(f"vectors have the shape {vectors.shape}, not ({rows}, {dimension})")
    if not np.isfinite(vectors).all():
        raise ValueError(f"vector {int(np.argmin(np.isfinite(vectors).all(axis=1)))} of {rows} is not finite")
    if rows and not np.einsum("ij,ij->i", vectors, vectors).all():
        raise ValueError("a vector has no length")


def check_id(point: PointId) -> None:
    """Refuse, by :class:`ValueError`, an id that is no UUID in its canonical text form."""
    if _CANONICAL.fullmatch(point) is None:
        raise ValueError(f"the point id {point!r} is not in the canonical form of a UUID")


def _check_together(points: Points) -> None:
    if len(points.payloads) != len(points.ids):
        raise ValueError(f"{len(points.ids)} ids come with {len(points.payloads)} payloads")
    if len(set(points.ids)) != len(points.ids):
        raise ValueError(f"document {points.document} names a point id twice")


def _check_integers(field: str, value: object) -> None:
    for key, leaf in _leaves(field, value):
        if isinstance(leaf, int):
            _check_integer(key, leaf)


def _check_integer(field: str, value: int) -> None:
    if not _LEAST_INTEGER <= value <= _MOST_INTEGER:
        raise ValueError(f"the payload field {field} holds {value}, which does not fit in 64 bits")


def _leaves(key: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, below in value.items():  # pyright: ignore[reportUnknownVariableType]  # JSON values are Any
            yield from _leaves(f"{key}.{name}" if key else str(name), below)  # pyright: ignore[reportUnknownArgumentType]  # as above
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for below in value:  # pyright: ignore[reportUnknownVariableType]  # as above
            yield from _leaves(key, below)  # pyright: ignore[reportUnknownArgumentType]  # as above
    else:
        yield key, value


def _culprit(payload: Payload) -> str:
    for key, value in _leaves("", payload):
        try:
            json.dumps({key: value}, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except (TypeError, ValueError):
            return ascii(key)
    return "?"
