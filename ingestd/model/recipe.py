"""All that decides the points of a document, and its digests."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ingestd.model.identity import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The identity of one stage: everything, and only what, can change its output."""

    name: str
    """The adapter or chunker, such as ``markdown``, ``liteparse``, ``structure-first``, ``bge-small``."""
    version: int | str
    """Raised by hand whenever its output changes for any input."""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """JSON values: sizes, weights' hashes, pooling, prefixes, …"""
    digest: Digest = field(init=False, repr=False, compare=False)
    """Digest of the canonical JSON of the identity; made once, as every chunk needs it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", _digest(self.as_json()))

    def as_json(self) -> dict[str, Any]:
        """Readable identity, for people and for the digest."""
        return {"name": self.name, "version": self.version, "options": dict(self.options)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The three stages that one document passes."""

    convert: Stage
    chunk: Stage
    embed: Stage
    digest: Digest = field(init=False, repr=False, compare=False)
    """Digest over the three stages: the payload's ``recipe``."""

    def __post_init__(self) -> None:
        digests = [self.convert.digest, self.chunk.digest, self.embed.digest]
        object.__setattr__(self, "digest", _digest(digests))

    def as_json(self) -> dict[str, Any]:
        """Readable identity of the three stages."""
        return {"convert": self.convert.as_json(), "chunk": self.chunk.as_json(), "embed": self.embed.as_json()}


def _digest(value: Any) -> Digest:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Digest(hashlib.sha256(canonical.encode()).hexdigest())
