"""Makes, opens, claims, drops the directories that hold the embedded engine's generations."""

import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import qdrant_edge as engine

from ingestd.errors import StoreMismatch, StoreUnavailable
from ingestd.model.identity import Instance
from ingestd.model.point import Claim, Generation
from ingestd_adapters import edge_directory, edge_engine
from ingestd_adapters.edge_directory import DISTANCE, SHARD, Record
from ingestd_adapters.edge_space import MIN_FREE_BYTES, check_room

LOCK_WAIT_SECONDS = 5.0
"""How long to wait for another process to let go of a shard: a killed owner's child needs a moment to leave."""
_LOCK_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class _Opened:
    shard: engine.EdgeShard
    lock: int


class EdgeGenerations:
    """The port's methods that are about whole generations.

    Parameters
    ----------
    directory
        Holds a directory for each generation; made when needed.
    instance
        The marker of every point that is written, read or deleted.
    min_free_bytes
        Writes are refused with ``OutOfSpace`` while the disk has less room.
    lock_wait_seconds
        How long a call waits for another process to close the generation, before ``StoreUnavailable``.
    """

    def __init__(
        self,
        directory: Path,
        instance: Instance,
        *,
        min_free_bytes: int = MIN_FREE_BYTES,
        lock_wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> None:
        self.directory = directory
        self.instance = instance
        self.min_free_bytes = min_free_bytes
        self._lock_wait_seconds = lock_wait_seconds
        self.unflushed: set[str] = set()
        self._opened: dict[str, _Opened] = {}
        self._guard = threading.RLock()
        self._closed = threading.Event()

    def prepare(self, generation: Generation) -> bool:
        """As the port says; a generation appears under its name only when it is whole, on disk to stay."""
        with self._guard:
            self._check_not_closed()
            if self._recorded(generation) is not None:
                return False
            check_room(self.directory, self.min_free_bytes)
            with edge_directory.made_aside(self.directory, generation) as aside:
                edge_engine.create(aside / SHARD, generation.dimension)
                edge_directory.write_record(
                    aside,
                    Record(dimension=generation.dimension, distance=DISTANCE, embed_digest=generation.embed_digest),
                )
            return True

    def generations(self) -> tuple[str, ...]:
        """As the port says; opens nothing."""
        return edge_directory.made(self.directory)

    def claim(self, generation: Generation) -> Claim | None:
        """As the port says; opens nothing, so that it works while another process has the generation open."""
        record = self._recorded(generation)
        return None if record is None else record.claim

    def record_claim(self, generation: Generation, claim: Claim) -> None:
        """As the port says."""
        with self._guard:
            record = self._recorded(generation)
            if record is None:
                raise _missing(self.home(generation))
            edge_directory.write_record(self.home(generation), replace(record, claim=claim))

    def publish_alias(self, generation: Generation) -> None:
        """Nothing: the engine knows no aliases, and the ledger names the live generation."""

    def drop(self, generation: Generation) -> None:
        """As the port says; waits until no other process has it open."""
        with self._guard:
            self._check_not_closed()
            opened = self._opened.pop(generation.name, None)
            self.unflushed.discard(generation.name)
            if opened is not None:
                opened.shard.close()
            elif self._recorded(generation) is None:
                return
            lock = self._locked(self.home(generation)) if opened is None else opened.lock
            try:
                edge_directory.remove(self.directory, generation)
            finally:
                os.close(lock)

    def close(self) -> None:
        """As the port says; a second time does nothing."""
        self._closed.set()
        with self._guard:
            for name in tuple(self._opened):
                self._let_go(name)

    def home(self, generation: Generation) -> Path:
        """Directory of the generation."""
        return edge_directory.home(self.directory, generation)

    def shard(self, generation: Generation) -> engine.EdgeShard:
        """Engine's shard of the generation, opened on first use.

        Raises
        ------
        StoreMismatch
            When the generation does not exist, or is of another vector space.
        StoreUnavailable
            When another process has it open for longer than we wait.
        """
        with self._guard:
            self._check_not_closed()
            opened = self._opened.get(generation.name)
            if opened is None:
                opened = self._opened[generation.name] = self._load(generation)
            return opened.shard

    def _load(self, generation: Generation) -> _Opened:
        home = self.home(generation)
        if self._recorded(generation) is None:
            raise _missing(home)
        lock = self._locked(home)
        try:
            return _Opened(edge_engine.load(home / SHARD), lock)
        except BaseException:
            os.close(lock)
            raise

    def _locked(self, home: Path) -> int:
        deadline = time.monotonic() + self._lock_wait_seconds
        while (lock := edge_directory.locked(home)) is None:
            if time.monotonic() >= deadline or self._closed.wait(_LOCK_LOOK_SECONDS):
                raise StoreUnavailable(
                    f"another process has the store in {home} open, and kept it for {self._lock_wait_seconds:g} s: "
                    f"is an ingestd running on it? `ingestd status` says"
                )
        return lock

    def _let_go(self, name: str) -> None:
        opened = self._opened.pop(name)
        try:
            with edge_engine.translated(self.directory / name):
                # A look that wrote nothing does not pay 0.1 to 0.6 s for a flush.
                if name in self.unflushed:
                    opened.shard.flush()
                    self.unflushed.discard(name)
                opened.shard.close()
        finally:
            os.close(opened.lock)

    def _recorded(self, generation: Generation) -> Record | None:
        return edge_directory.recorded(self.directory, generation)

    def _check_not_closed(self) -> None:
        if self._closed.is_set():
            raise StoreUnavailable(f"the store in {self.directory} was closed")


def _missing(home: Path) -> StoreMismatch:
    return StoreMismatch(f"the store has no {home}: run `ingestd sync`, which makes it")
