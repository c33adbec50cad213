"""Ids of points as the ledger keeps them: sixteen bytes."""

from ingestd.model.identity import PointId


def point_bytes(point: PointId) -> bytes:
    """Sixteen bytes of the id."""
    return bytes.fromhex(point.replace("-", ""))


def point_text(value: bytes) -> PointId:
    """Id from its sixteen bytes."""
    digits = value.hex()
    return PointId(f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}")
