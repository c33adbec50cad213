"""Room on the store's disk, looked at before each write.

The engine writes through memory maps: on a full disk the kernel ends the process with SIGBUS instead of an error.
"""

import os
from pathlib import Path

from ingestd.errors import OutOfSpace

MIN_FREE_BYTES = 256 * 1024 * 1024
"""Least room left for a write: two segments of the engine's log (32 MiB each), new segments, and a flush."""


def check_room(place: Path, min_free_bytes: int) -> None:
    """Raise :class:`OutOfSpace` when the disk has less room than that."""
    free = free_bytes(place)
    if free < min_free_bytes:
        raise OutOfSpace(
            f"the disk of {place} has {free // 2**20} MiB left and the store needs {min_free_bytes // 2**20}: "
            f"free some, or lower min_free_bytes below [store]"
        )


def free_bytes(place: Path) -> int:
    """Bytes that we may still write to the disk of the place, or of the nearest folder above that exists."""
    while not place.exists():
        place = place.parent
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize
