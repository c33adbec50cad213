"""What discovery must know of the sources seen before."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from ingestd.model.source import Signature


class KnownSources(Protocol):
    """Signatures of one root's sources, by directory; paths are bytes relative to the root, ``b""`` is the root."""

    def in_directory(self, directory: bytes) -> Mapping[bytes, Signature | None]:
        """File name → signature of the sources directly in the directory; ``None``: seen, not yet settled or adopted."""
        ...

    def directories(self) -> Iterator[bytes]:
        """Each directory that holds a known source, once, in byte order."""
        ...

    def count(self) -> int:
        """How many sources are known."""
        ...
