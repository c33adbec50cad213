"""A part of a scroll."""

from dataclasses import dataclass

from ingestd.model.identity import PointId
from ingestd.model.point import StoredPoint

PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Points that follow each other in the order of their ids, at most :data:`PAGE`."""

    points: tuple[StoredPoint, ...]
    next: PointId | None
    """Where the following page begins; ``None`` at the end."""
