"""Names and ids, and how they are made."""

import hashlib
from typing import NewType
from uuid import UUID

Instance = NewType("Instance", str)
"""The configured name of this installation."""
RootName = NewType("RootName", str)
DocumentId = NewType("DocumentId", str)
"""UUIDv5 in its canonical text form."""
PointId = NewType("PointId", str)
"""UUIDv5 in its canonical text form."""
Fingerprint = NewType("Fingerprint", str)
"""SHA-256 of a file's bytes, 64 hexadecimal digits."""
Digest = NewType("Digest", str)
"""SHA-256 of a stage's canonical identity, 64 hexadecimal digits."""
TextHash = NewType("TextHash", str)
"""SHA-256 of the exact string embedded, UTF-8, 64 hexadecimal digits."""
CollectionName = NewType("CollectionName", str)
"""The name readers use; physical collections append ``.g<N>``."""

NAMESPACE = UUID("5b1a9f0e-6c5d-5d0b-9a51-0d9d7c0a3e11")
_NAMESPACE_BYTES = NAMESPACE.bytes
# Version 5 and the variant of RFC 9562, and the bits that they leave.
_MARKS = 0x5 << 76 | 0b10 << 62
_UNMARKED = ((1 << 128) - 1) & ~(0xF << 76 | 0b11 << 62)


def document_id(instance: Instance, root: RootName, path: bytes) -> DocumentId:
    """Id of the document at ``path`` (bytes, relative to its root): the same after the loss of the ledger."""
    return DocumentId(_uuid5(b"\0".join((b"document", instance.encode(), root.encode(), path))))


def point_id(document: DocumentId, embed_digest: Digest, text: TextHash, occurrence: int) -> PointId:
    """Id of the ``occurrence``-th (0-based) chunk with this text in the document."""
    return PointId(_uuid5(f"point\0{document}\0{embed_digest}\0{text}\0{occurrence}".encode()))


def text_hash(text: str) -> TextHash:
    """Hash of the exact string embedded; lone surrogates are kept apart from what they would be replaced by."""
    return TextHash(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def _uuid5(name: bytes) -> str:
    # uuid.uuid5 takes bytes only from Python 3.12 on, and costs three times as much: there is one for every chunk.
    number = int(hashlib.sha1(_NAMESPACE_BYTES + name, usedforsecurity=False).hexdigest()[:32], 16)
    digits = f"{number & _UNMARKED | _MARKS:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
