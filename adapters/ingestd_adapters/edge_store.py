"""Stores points with Qdrant's embedded engine, in a supervised process of its own."""

import dataclasses
import importlib.util
import logging
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ingestd.children import Child, ChildDied, ChildTimeout
from ingestd.errors import AdapterUnavailable, OutOfSpace, StoreUnavailable
from ingestd.failpoints import failpoint
from ingestd.model.identity import Instance, PointId
from ingestd.model.point import Claim, Deletion, Generation, Hit, PayloadOverwrite, Points, SearchFilter, StoredPoint
from ingestd.model.writable import check_vectors
from ingestd.ports.store import Store
from ingestd_adapters import edge_directory, edge_frames, qdrant_batches, qdrant_options
from ingestd_adapters.edge_frames import Frame, asked
from ingestd_adapters.edge_space import MIN_FREE_BYTES, free_bytes
from ingestd_adapters.edge_turns import Turns
from ingestd_adapters.qdrant_options import EdgeOptions

if TYPE_CHECKING:
    # NumPy costs a command that touches no vector a tenth of a second.
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)
_MODULE = "ingestd_adapters.edge_process"
_IDS_A_FRAME = 256


def edge(instance: Instance, options: dict[str, object]) -> Store:
    """Embedded store for the instance, with the options of :class:`EdgeOptions`.

    Raises
    ------
    AdapterUnavailable
        When the engine is not installed.
    ConfigurationError
        When an option is unknown or of a wrong type.
    """
    read = qdrant_options.read(EdgeOptions, options)
    if importlib.util.find_spec("qdrant_edge") is None:
        raise AdapterUnavailable('the embedded store needs qdrant-edge-py: pip install "qdrant-edge-py>=0.9,<0.10"')
    # Opening the files writes a little too, and on a full disk that would end the caller's process.
    if not read.in_process or free_bytes(Path(read.directory)) < MIN_FREE_BYTES:
        return EdgeStore(instance, read)
    # Here, so that the daemon's process never loads the engine.
    from ingestd_adapters.edge_shard import EdgeShards

    return EdgeShards(
        Path(read.directory),
        instance,
        min_free_bytes=read.min_free_bytes,
        lock_wait_seconds=read.lock_wait_seconds,
    )


class EdgeStore:
    """Client of the process that owns the files.

    The process is started by the first call, and again by the first call after its death. The call during which it
    died raises ``StoreUnavailable`` (``OutOfSpace`` when a full disk killed it), and may be repeated, as every write may.
    So does the next flush of a generation that had been written to since its last flush: what the engine kept of those
    writes is not known, so they are to be repeated before a flush can speak for them. Safe from any thread.
    """

    def __init__(self, instance: Instance, options: EdgeOptions) -> None:
        self._instance = instance
        self._options = options
        self._turns = Turns()
        self._child: Child | None = None
        self._closed = False
        self._unflushed: dict[str, Generation] = {}
        self._in_doubt: set[str] = set()

    @property
    def pid(self) -> int | None:
        """Process id of the store's process, while there is one."""
        return None if self._child is None else self._child.pid

    def prepare(self, generation: Generation) -> bool:
        """As the port says."""
        return bool(self._ask((asked("prepare", generation), b""))[0]["made"])

    def generations(self) -> tuple[str, ...]:
        """As the port says; starts no process."""
        self._check_not_closed()
        return edge_directory.made(Path(self._options.directory))

    def claim(self, generation: Generation) -> Claim | None:
        """As the port says; starts no process: a command that finds nothing to do needs no more of the store."""
        self._check_not_closed()
        record = edge_directory.recorded(Path(self._options.directory), generation)
        return None if record is None else record.claim

    def record_claim(self, generation: Generation, claim: Claim) -> None:
        """As the port says."""
        self._ask((asked("record_claim", generation, claim=dataclasses.asdict(claim)), b""))

    def upsert(self, generation: Generation, points: Sequence[Points]) -> None:
        """As the port says, in frames of bounded size, between which a search may go."""
        batches = qdrant_batches.upserts(self._instance, generation, points)
        self._write(generation, (edge_frames.upsert(generation, batch) for batch in batches))

    def overwrite_payloads(self, generation: Generation, overwrites: Sequence[PayloadOverwrite]) -> None:
        """As the port says, in frames as for :meth:`upsert`."""
        batches = qdrant_batches.overwrites(self._instance, overwrites)
        self._write(generation, (edge_frames.overwrite(generation, batch) for batch in batches))

    def delete(self, generation: Generation, deletions: Sequence[Deletion]) -> None:
        """As the port says."""
        cut = qdrant_batches.deletions(deletions)
        self._write(generation, ((asked("delete", generation, version=below, ids=ids), b"") for below, ids in cut))

    def flush(self, generation: Generation) -> None:
        """As the port says.

        Raises
        ------
        StoreUnavailable
            Also once after the process died with writes that no flush had followed: repeat them.
        """
        with self._turns.turn():
            if generation.name in self._in_doubt:
                self._in_doubt.discard(generation.name)
                raise StoreUnavailable(
                    f"the store's process died before {generation.name} was flushed: the writes since are to be repeated"
                )
            self._call((asked("flush", generation), b""))
            self._unflushed.pop(generation.name, None)

    def search(
        self, generation: Generation, vector: "NDArray[np.float32]", limit: int, narrowed: SearchFilter
    ) -> tuple[Hit, ...]:
        """As the port says; goes before writes that wait."""
        check_vectors(vector.reshape(1, -1), 1, generation.dimension)
        head, _ = self._ask(edge_frames.search(generation, vector, limit, narrowed), urgent=True)
        return edge_frames.hits_of(head)

    def scroll(self, generation: Generation, fields: Sequence[str], *, vectors: bool = False) -> Iterator[StoredPoint]:
        """As the port says, page by page."""
        start: PointId | None = None
        while True:
            request = asked("page", generation, fields=list(fields), vectors=vectors, start=start)
            page = edge_frames.page_of(*self._ask((request, b"")))
            yield from page.points
            if page.next is None:
                return
            start = page.next

    def retrieve(self, generation: Generation, ids: Sequence[PointId]) -> tuple[StoredPoint, ...]:
        """As the port says; goes before writes that wait, as a search that looks at its hits needs it."""
        found: list[StoredPoint] = []
        for cut in qdrant_batches.pages(ids, _IDS_A_FRAME):
            reply = self._ask((asked("retrieve", generation, ids=cut), b""), urgent=True)
            found.extend(edge_frames.page_of(*reply).points)
        return tuple(found)

    def count(self, generation: Generation) -> int:
        """As the port says."""
        return int(self._ask((asked("count", generation), b""))[0]["count"])

    def publish_alias(self, generation: Generation) -> None:
        """Nothing: the ledger names the live generation."""

    def drop(self, generation: Generation) -> None:
        """As the port says."""
        with self._turns.turn():
            self._call((asked("drop", generation), b""))
            self._unflushed.pop(generation.name, None)
            self._in_doubt.discard(generation.name)

    def close(self) -> None:
        """As the port says; a second time does nothing.

        Raises
        ------
        StoreUnavailable
            When the process died before it had flushed; it is let go of all the same.
        """
        with self._turns.turn():
            self._closed, closed = True, self._closed
            if closed or self._child is None:
                return
            try:
                for generation in tuple(self._unflushed.values()):
                    self._call((asked("flush", generation), b""))
            finally:
                self._child.close()

    def _write(self, generation: Generation, frames: Iterable[Frame]) -> None:
        told_before = generation.name in self._in_doubt or generation.name in self._unflushed
        try:
            for frame in frames:
                failpoint("store.write_asked")
                with self._turns.turn():
                    self._check_not_closed()
                    self._call(frame)
                    # Within the turn: a search of another thread may be the one that meets the process's death.
                    self._unflushed[generation.name] = generation
        except (StoreUnavailable, OutOfSpace):
            if not told_before:
                # The caller repeats all these frames: what became of the first of them is not in doubt for the flush.
                self._in_doubt.discard(generation.name)
            raise

    def _ask(self, frame: Frame, *, urgent: bool = False) -> Frame:
        with self._turns.turn(urgent=urgent):
            self._check_not_closed()
            return self._call(frame)

    def _check_not_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"the store in {self._options.directory} was closed")

    def _call(self, frame: Frame) -> Frame:
        child = self._running()
        try:
            return child.call(*frame, timeout_seconds=self._options.timeout_seconds)
        except (ChildDied, ChildTimeout) as error:
            self._in_doubt.update(self._unflushed)
            self._unflushed.clear()
            self._child = None
            _log.warning("store.process_died", extra={"operation": frame[0]["op"], "reason": str(error)})
            if isinstance(error, ChildDied) and error.exit_status == -signal.SIGBUS:
                # What the kernel does to a write through a memory map when the disk has no room for it.
                raise OutOfSpace(f"the disk of {self._options.directory} is full: {error}") from error
            raise StoreUnavailable(f"{error} during {frame[0]['op']!r}; the next call starts another") from error

    def _running(self) -> Child:
        if self._child is not None and not self._child.alive and not self._unflushed:
            # It died with nothing in hand: whoever asks next need not be told.
            _log.warning("store.process_died", extra={"operation": None, "reason": "it died idle"})
            self._child.close(grace_seconds=0)
            self._child = None
        if self._child is None:
            arguments = {
                "directory": self._options.directory,
                "instance": self._instance,
                "min_free_bytes": self._options.min_free_bytes,
                "lock_wait_seconds": self._options.lock_wait_seconds,
            }
            self._child = Child(_MODULE, arguments, name="store")
            _log.debug("store.process_started", extra={"child": self._child.pid})
        return self._child
