"""Where a loaded embedder runs: in a process of its own, or in this one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingestd.children import Child, Reply
from ingestd.errors import ConfigurationError
from ingestd.model.identity import Digest
from ingestd.ports.embedder import Embedder

LOAD_SECONDS = 300.0
"""Deadline for the process to come up with its weights loaded: large ones come from slow disks."""
ANSWER_SECONDS = 120.0
"""Deadline of one batch or query, which take a fraction of a second: over it the device hangs."""


class Device(Protocol):
    """A loaded embedder.

    Each call may raise ``MemoryError`` when the device is too small for it, ``ChildDied`` or ``ChildTimeout`` when the
    process is gone, and whatever error of our tree the adapter raises.
    """

    @property
    def name(self) -> str:
        """The device in use, such as ``cpu`` or ``cuda:0``."""
        ...

    @property
    def pid(self) -> int | None:
        """Process id; ``None`` where it is this one."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        """Vectors of one batch, unchecked."""
        ...

    def query(self, text: str) -> NDArray[Any]:
        """Vector of one query, unchecked, shape ``(1, d)``."""
        ...

    def close(self) -> None:
        """Let it end in order."""
        ...

    def kill(self) -> None:
        """End it at once, whatever it does."""
        ...


class ChildDevice:
    """Embedder in a process of its own."""

    def __init__(self, name: str, options: Mapping[str, object], digest: Digest) -> None:
        """Start the process; return when it has loaded the embedder.

        Raises
        ------
        ConfigurationError
            When it loaded an embedder with another identity than ``digest``: the installation changed meanwhile.
        """
        self._child = Child("ingestd.embed.process", {"name": name, "options": dict(options)}, name="embedder")
        try:
            found, _ = self._child.call({"do": "describe"}, timeout_seconds=LOAD_SECONDS)
            _refuse_another(name, found["digest"], digest)
        except BaseException:
            self._child.kill()
            raise
        self.name = str(found["device"])

    @property
    def pid(self) -> int | None:
        """Process id, which is also its group's."""
        return self._child.pid

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        """Vectors of one batch, over the pipe."""
        return _matrix(self._child.call({"do": "embed", "texts": list(texts)}, timeout_seconds=ANSWER_SECONDS))

    def query(self, text: str) -> NDArray[Any]:
        """Vector of one query, over the pipe."""
        return _matrix(self._child.call({"do": "query", "text": text}, timeout_seconds=ANSWER_SECONDS))

    def close(self) -> None:
        """Let the process finish at end-of-file."""
        self._child.close()

    def kill(self) -> None:
        """Kill the process with its whole group."""
        self._child.kill()


class HereDevice:
    """Embedder in this process: for one query, and for tests."""

    pid: int | None = None

    def __init__(self, embedder: Embedder) -> None:
        embedder.load()
        self.name = embedder.device
        self._embedder = embedder

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        """Vectors of one batch."""
        return self._embedder.embed_documents(texts)

    def query(self, text: str) -> NDArray[Any]:
        """Vector of one query."""
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """Nothing to end."""

    def kill(self) -> None:
        """Nothing to end."""


def _refuse_another(name: str, found: str, expected: str) -> None:
    if found != expected:
        raise ConfigurationError(
            f"the embedder {name!r} was changed while this process ran ({expected[:12]} before, {found[:12]} now): "
            "start ingestd again"
        )


def _matrix(reply: Reply) -> NDArray[Any]:
    value, blob = reply
    if "short_of_memory" in value:
        raise MemoryError(value["short_of_memory"])
    # A copy: the frame's own bytes are read-only.
    return np.frombuffer(blob, "<f4").reshape(value["shape"]).astype(np.float32)
