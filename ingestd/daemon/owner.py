"""The one process that owns a state directory: its lock, ledger, store and engines."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestd.daemon.lock import StateLock
from ingestd.daemon.registered import Registered, register
from ingestd.daemon.state import Places, check_structure, open_ledger, state_id
from ingestd.model.identity import Digest, Fingerprint, Instance
from ingestd.pipeline.parts import Parts, RootPlan, Stop
from ingestd.publish.collections import Collections
from ingestd.settings import Settings
from ingestd.state import documents
from ingestd.state.engine import Ledger
from ingestd.wiring.engines import Wiring, clock
from ingestd.wiring.stores import store

LOCK_SECONDS = 5.0
"""How long a command waits for the owner before it to leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """What an owner is made from."""

    settings: Settings
    configuration: Path | None
    state_dir: Path
    adopt: bool = False
    """Take over collections that another state claims."""
    command: str = ""
    """What the state is owned for, told to those who find it owned."""
    wait_seconds: float | None = None
    """How long to wait for the owner before this one; ``None``: :data:`LOCK_SECONDS`."""


class Owner:
    """Ownership of a state, from ``with`` to its end; the main thread's.

    Raises
    ------
    StateLocked, StateUnusable, ConfigurationError
        On entering, when the state cannot be owned.
    """

    def __init__(self, ownership: Ownership, stop: threading.Event) -> None:
        self.settings = ownership.settings
        self.places = Places(directory=ownership.state_dir)
        self.ledger: Ledger
        self.collections: Collections
        self.wiring: Wiring
        self._ownership = ownership
        self._stop = stop
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as exits:
            lock = exits.enter_context(StateLock(self.places.directory, command=self._ownership.command))
            wait_seconds = self._ownership.wait_seconds
            lock.acquire(LOCK_SECONDS if wait_seconds is None else wait_seconds, self._stop)
            instance = Instance(self.settings.instance)
            self.ledger = open_ledger(self.places, instance=instance, configuration=self._ownership.configuration)
            exits.callback(self.ledger.close)
            self.wiring = Wiring(
                self.settings,
                conversions=self.places.conversions,
                vectors=self.places.vectors,
                pinned=self._is_pinned,
            )
            exits.callback(self.wiring.close)
            self.collections = Collections(
                self.ledger,
                store(self.settings, self.places.store),
                instance=instance,
                state_id=state_id(self.places),
                adopt=self._ownership.adopt,
            )
            exits.callback(self.collections.close)
            self._repair()
            self._exits = exits.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exits.close()

    def register(self, folders: Sequence[Path] = ()) -> Registered:
        """Roots in force; see :func:`ingestd.daemon.registered.register`."""
        return register(self.ledger, self.settings, folders)

    def parts(
        self, registered: Registered, *, stop: Stop | None = None, between: Callable[[], None] | None = None
    ) -> Parts:
        """Parts of the pipeline over the roots in force."""
        plans: dict[int, RootPlan] = {id_: self.wiring.plan(row, root) for id_, (row, root) in registered.roots.items()}
        return Parts(
            ledger=self.ledger,
            collections=self.collections,
            instance=Instance(self.settings.instance),
            staging=self.places.staging,
            roots=plans,
            settle_seconds=self.settings.daemon.settle_seconds,
            on_failure=self.settings.daemon.on_failure,
            workers=self.settings.converter.workers,
            shutdown_seconds=self.settings.daemon.shutdown_seconds,
            clock=clock(),
            stop=stop or self._stop,
            between=between or _nothing,
        )

    def _is_pinned(self, fingerprint: Fingerprint, digest: Digest) -> bool:
        with self.ledger.read() as transaction:
            return documents.is_pinned(transaction, fingerprint, digest)

    def _repair(self) -> None:
        if self.collections.is_suspect():
            check_structure(self.ledger)
            self.collections.ready_all(clock().wall_ns())


def _nothing() -> None:
    return
