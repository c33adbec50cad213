"""Collections that this run writes to, each claimed and repaired before its first use."""

import threading
from dataclasses import dataclass, replace

from ingestd.errors import IngestdError, StoreMismatch
from ingestd.logs import Log
from ingestd.model.identity import CollectionName, Instance
from ingestd.model.point import Generation
from ingestd.model.recipe import Stage
from ingestd.ports.store import Store
from ingestd.publish import recovery
from ingestd.state import generations, intents
from ingestd.state.engine import Ledger
from ingestd.state.generations import GenerationRow

_log = Log(__name__)


class NeedsReindex(IngestdError):
    """The collection holds vectors of another embedder; ingestion into it waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The vector space of an embedder, with what is needed to embed queries for it."""

    stage: Stage
    dimension: int
    embedder: str
    """JSON: the embedder's configuration."""


class Collections:
    """The generations in use by the owner of a state; safe from any thread."""

    def __init__(self, ledger: Ledger, store: Store, *, instance: Instance, state_id: str, adopt: bool) -> None:
        self.ledger = ledger
        self.store = store
        self._instance = instance
        self._state_id = state_id
        self._adopt = adopt
        self._lock = threading.RLock()
        self._ready: set[int] = set()
        self._token = ""
        self._paused: dict[CollectionName, str] = {}

    def target(self, collection: CollectionName, space: Space, now_ns: int) -> GenerationRow:
        """Generation that new versions are written to, ready for it.

        Raises
        ------
        NeedsReindex
            When the live generation holds another vector space and none of this one is being built.
        """
        with self._lock:
            row = self.serving(collection, space) or self._add(collection, space, "live", now_ns)
            self.ready_all(now_ns)
            return row

    def serving(self, collection: CollectionName, space: Space) -> GenerationRow | None:
        """Generation that new versions would be written to, ``None`` while there is none; touches no store.

        Whether ingestion waits is stated for ``status``.

        Raises
        ------
        NeedsReindex
            As :meth:`target`.
        """
        with self._lock:
            try:
                row = self._existing(collection, space)
            except NeedsReindex as error:
                self._note_pause(collection, str(error))
                raise
            self._note_pause(collection, "")
            return row

    def survives(self, collection: CollectionName) -> bool:
        """Whether the store holds the collection and the ledger knows nothing of it: a ledger that is new, or was lost."""
        with self.ledger.read() as transaction:
            known = generations.all_generations(transaction)
        return all(row.generation.collection != collection for row in known) and bool(self._survivors(collection))

    def ready_all(self, now_ns: int) -> list[recovery.Recovered]:
        """Claim and repair every generation in use that was not made ready in this run yet.

        All of them, not only the one needed: they share the ledger's one token.
        """
        with self._lock:
            with self.ledger.read() as transaction:
                rows = [row for row in generations.all_generations(transaction) if row.state != "retired"]
                expected = recovery.token(transaction) if recovery.is_clean(transaction) else None
            new = [row for row in rows if row.id not in self._ready]
            found = [
                recovery.recover(
                    self.ledger,
                    self.store,
                    row,
                    instance=self._instance,
                    state_id=self._state_id,
                    expected_token=expected if not self._token else None,
                    adopt=self._adopt,
                    now_ns=now_ns,
                )
                for row in new
            ]
            if not self._token:
                self._token = recovery.begin(self.ledger)
            for row in new:
                self._record_token(row)
                self._ready.add(row.id)
            return found

    def settle(self, now_ns: int) -> None:
        """Do what the store is still owed after it failed for a while; costs one read when it is owed nothing.

        Raises
        ------
        StoreUnavailable
            When it still fails; the debts stay.
        """
        with self._lock:
            with self.ledger.read() as transaction:
                if intents.is_outbox_empty(transaction) and not intents.open_intents(transaction, idle_only=True):
                    return
                rows = [row for row in generations.all_generations(transaction) if row.state != "retired"]
            self.ready_all(now_ns)
            for row in rows:
                recovery.settle(self.ledger, self.store, row)

    def is_suspect(self) -> bool:
        """Whether ledger and store may disagree: the last run ended badly, or one of them is of another moment."""
        with self.ledger.read() as transaction:
            rows = [row for row in generations.all_generations(transaction) if row.state != "retired"]
            token, clean = recovery.token(transaction), recovery.is_clean(transaction)
        if not rows:
            return False
        if not clean:
            return True
        claims = [self.store.claim(row.generation) for row in rows]
        return any(claim is None or claim.token != token for claim in claims)

    def build(self, collection: CollectionName, space: Space, now_ns: int) -> GenerationRow:
        """Start a new generation beside the live one, or go on with one that is being built."""
        with self._lock:
            with self.ledger.read() as transaction:
                row = generations.building(transaction, collection)
            if row is None or row.generation.embed_digest != space.stage.digest:
                row = self._add(collection, space, "building", now_ns)
            self.ready_all(now_ns)
            return row

    def switch(self, collection: CollectionName) -> GenerationRow | None:
        """Have readers see the generation that was built; returns the one that they saw before."""
        with self._lock:
            with self.ledger.read() as transaction:
                old, new = generations.live(transaction, collection), generations.building(transaction, collection)
            if new is None:
                return None
            # The alias first: killed in between, the next try finds both as they are and does it again.
            self.store.publish_alias(new.generation)
            with self.ledger.write("switch") as transaction:
                generations.switch(transaction, None if old is None else old.id, new.id)
            return old

    def drop(self, row: GenerationRow) -> None:
        """Remove a generation that nobody sees any more."""
        with self._lock:
            # Its documents first: a store without the collection must owe it nothing when this is cut short.
            with self.ledger.write("empty-generation") as transaction:
                generations.retire(transaction, row.id)
            self._ready.discard(row.id)
            self.store.drop(row.generation)
            with self.ledger.write("drop-generation") as transaction:
                generations.drop(transaction, row.id)

    def drop_retired(self) -> None:
        """Remove what readers left behind and a killed run did not get to remove; costs one read when there is none."""
        with self._lock:
            with self.ledger.read() as transaction:
                rows = [row for row in generations.all_generations(transaction) if row.state == "retired"]
            for row in rows:
                self.drop(row)

    def close(self) -> None:
        """Stop cleanly: everything flushed, ledger and store under one new token."""
        with self._lock:
            try:
                if self._token:
                    self._end()
            finally:
                self.store.close()

    def _end(self) -> None:
        with self.ledger.read() as transaction:
            rows = [row for row in generations.all_generations(transaction) if row.id in self._ready]
        for row in rows:
            self.store.flush(row.generation)
        # Another token than that of the run: a copy taken in mid-run is of another moment than the end.
        self._token = recovery.begin(self.ledger)
        for row in rows:
            self._record_token(row)
        recovery.end(self.ledger)

    def _note_pause(self, collection: CollectionName, reason: str) -> None:
        """State once, for ``status`` and the log, that ingestion waits, or goes on."""
        if self._paused.get(collection) == reason:
            return
        with self.ledger.read() as transaction:
            known = generations.paused(transaction, collection)
        if known != reason:
            with self.ledger.write("pause") as transaction:
                generations.pause(transaction, collection, reason)
            if reason:
                _log.warning("collection.needs-reindex", collection=collection, reason=reason)
        self._paused[collection] = reason

    def _existing(self, collection: CollectionName, space: Space) -> GenerationRow | None:
        with self.ledger.read() as transaction:
            live, building = generations.live(transaction, collection), generations.building(transaction, collection)
        for row in (building, live):
            if row is not None and row.generation.embed_digest == space.stage.digest:
                return row
        if live is None:
            return None
        raise NeedsReindex(
            f"the collection {collection!r} holds vectors of another embedder than {space.stage.name!r} as it is "
            "configured now: searches go on, new files wait; run `ingestd reindex --force` to embed everything again, "
            "or restore the embedder's settings"
        )

    def _add(self, collection: CollectionName, space: Space, state: str, now_ns: int) -> GenerationRow:
        with self.ledger.read() as transaction:
            known = [
                row.generation.number
                for row in generations.all_generations(transaction)
                if row.generation.collection == collection
            ]
        survivors = self._survivors(collection)
        number = max([*known, *survivors], default=0) + 1
        generation = Generation(
            collection=collection, number=number, dimension=space.dimension, embed_digest=space.stage.digest
        )
        if survivors and not known and state == "live":
            generation = self._survivor(replace(generation, number=max(survivors))) or generation
        with self.ledger.write("generation") as transaction:
            return generations.add(transaction, generation, space.embedder, state, now_ns)

    def _survivor(self, generation: Generation) -> Generation | None:
        # A ledger that was lost finds the collection that it used to serve, unless that is of another vector space.
        try:
            self.store.prepare(generation)
        except StoreMismatch:
            return None
        # Before it is recorded: a ledger that knows it would be refused at every start.
        claim = self.store.claim(generation)
        recovery.refuse_stranger(claim, generation.name, self._instance, self._state_id, adopt=self._adopt)
        return generation

    def _survivors(self, collection: CollectionName) -> list[int]:
        prefix = f"{collection}.g"
        return [
            int(name.removeprefix(prefix))
            for name in self.store.generations()
            if name.startswith(prefix) and name.removeprefix(prefix).isdigit()
        ]

    def _record_token(self, row: GenerationRow) -> None:
        recovery.record_token(self.store, row, instance=self._instance, state_id=self._state_id, token_now=self._token)
