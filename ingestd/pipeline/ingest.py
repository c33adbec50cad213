"""Works off what is due: looks, prepares in parallel, publishes in groups; one thread decides and writes the ledger."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue

from ingestd.discover.settle import Settling
from ingestd.errors import IngestdError, SourceGone
from ingestd.logs import Log
from ingestd.pipeline.ahead import Ahead
from ingestd.pipeline.attempt import record_failure
from ingestd.pipeline.bringing import GROUP_SECONDS, GROUP_TEXTS, Bringing
from ingestd.pipeline.choosing import Choosing
from ingestd.pipeline.group import Stopped
from ingestd.pipeline.missing import look_for
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.prepare import Failed, FailedBefore, Outcome, Prepared, Unchanged, prepare
from ingestd.pipeline.tally import Tally
from ingestd.state import outcomes, quarantine
from ingestd.state.sources import SourceRow

GROUP_DOCUMENTS = 64
GROUP_BYTES = 4 * 1024 * 1024
"""Of chunk texts."""
_WINDOW = 2 * GROUP_DOCUMENTS
_NANOSECONDS = 1_000_000_000

log = Log(__name__)


class Ingestion:
    """One run of work over the sources that are due."""

    def __init__(self, parts: Parts, tally: Tally, settling: Settling[int]) -> None:
        self._parts = parts
        self._tally = tally
        self._choosing = Choosing(parts, tally, settling)
        self._running: dict[Future[Outcome], SourceRow] = {}
        # Waiting for the futures themselves would take the lock of each, for each that ends.
        self._ended: SimpleQueue[Future[Outcome]] = SimpleQueue()
        self._prepared: list[Prepared] = []
        self._same: list[SourceRow] = []
        self._first_prepared = 0.0
        self._ahead = Ahead(parts, tally)
        self._bringing = Bringing(parts, tally, self._ahead)

    @property
    def paused(self) -> frozenset[str]:
        """Collections whose ingestion waits for a reindex."""
        return frozenset(self._choosing.paused)

    def run(self) -> None:
        """Work until nothing is due or the stop flag is set; what was claimed and not finished is given back.

        Raises
        ------
        StoreUnavailable
            When the store went away; the sources in hand were deferred.
        """
        with ThreadPoolExecutor(self._parts.workers, thread_name_prefix="prepare") as pool:
            try:
                while not self._parts.stop.is_set():
                    self._parts.between()
                    may_be_more = self._refill(pool)
                    if not self._running and not self._prepared and not self._same:
                        if not may_be_more:
                            return
                        continue
                    self._collect()
                    if self._group_is_full() or not self._running:
                        self._publish()
            except Stopped:
                log.info("ingest.stopped")
            finally:
                self._abandon()
                self._give_back()

    def _refill(self, pool: ThreadPoolExecutor) -> bool:
        """Take on more; false when nothing is left."""
        room = _WINDOW - len(self._running) - len(self._prepared)
        if room <= GROUP_DOCUMENTS and self._running:
            return True
        busy = {source.id for source in self._in_hand()}
        chosen = self._choosing.next(room, busy)
        if chosen:
            with self._parts.ledger.write("claim") as transaction:
                outcomes.claim(transaction, [one.source.id for one in chosen])
        for one in chosen or ():
            source = replace(one.source, attempts=one.source.attempts + 1)
            future = pool.submit(prepare, self._parts, one.plan, one.generation, source, self._tally)
            self._running[future] = source
            future.add_done_callback(self._ended.put)
        return chosen is not None

    def _in_hand(self) -> list[SourceRow]:
        prepared = (one.source for one in (*self._prepared, *self._bringing.left))
        return [*self._running.values(), *prepared, *self._same]

    def _collect(self) -> None:
        for future in self._just_ended() if self._running else ():
            self._settle(self._running.pop(future), future.result())

    def _just_ended(self) -> Iterator[Future[Outcome]]:
        """What was made ready since; waits a while for the first."""
        with suppress(Empty):
            yield self._ended.get(timeout=GROUP_SECONDS)
            while True:
                yield self._ended.get_nowait()

    def _settle(self, claimed: SourceRow, outcome: Outcome) -> None:
        match outcome:
            case Prepared():
                if not self._prepared:
                    self._first_prepared = self._parts.clock.monotonic()
                self._prepared.append(outcome)
                self._tally.add("converted" if outcome.converted else "conversions_reused")
            case Unchanged(source=source):
                self._same.append(source)
            case Failed():
                if isinstance(outcome.error, SourceGone):
                    look_for(self._parts, [claimed], self._tally)
                else:
                    record_failure(self._parts, outcome)
            case FailedBefore(source=source, failure=failure):
                with self._parts.ledger.write("quarantine") as transaction:
                    outcomes.hashed(transaction, source)
                    quarantine.put(transaction, source, failure, claimed.attempts, self._parts.clock.wall_ns())

    def _group_is_full(self) -> bool:
        if not self._prepared and not self._same:
            return False
        texts = sum(len(prepared.chunks) for prepared in self._prepared)
        size = sum(prepared.characters for prepared in self._prepared)
        return (
            len(self._prepared) >= GROUP_DOCUMENTS
            or len(self._same) >= _WINDOW
            or texts >= self._bringing.texts_a_group
            or size >= GROUP_BYTES
            or (bool(self._prepared) and self._parts.clock.monotonic() - self._first_prepared >= GROUP_SECONDS)
        )

    def _publish(self) -> None:
        if self._same:
            with self._parts.ledger.write("unchanged") as transaction:
                for source in self._same:
                    outcomes.done(transaction, source)
            self._same = []
        group = self._next_group()
        taken = {prepared.source.id for prepared in group}
        self._prepared = [prepared for prepared in self._prepared if prepared.source.id not in taken]
        self._bringing.bring(group)
        if any(len(prepared.chunks) > GROUP_TEXTS for prepared in group):
            self._ahead.forget()

    def _next_group(self) -> list[Prepared]:
        """Small documents first; a large one once all of it is embedded, of which this does one more piece."""
        small = [prepared for prepared in self._prepared if len(prepared.chunks) <= GROUP_TEXTS]
        if small or not self._prepared:
            return small[:GROUP_DOCUMENTS]
        large = self._prepared[0]
        try:
            ready = self._ahead.step(large)
        except (IngestdError, ValueError):
            # Bringing it in meets the same, and says there what becomes of it.
            ready = True
        return [large] if ready else []

    def _abandon(self) -> None:
        """Let what is being prepared end; told to stop, kill what is not done within ``shutdown_seconds``."""
        for future in self._running:
            future.cancel()
        left = {future for future in self._running if not future.cancelled()}
        deadline = self._parts.clock.monotonic() + self._parts.shutdown_seconds
        while left:
            _, left = wait(left, timeout=GROUP_SECONDS)
            self._parts.between()
            if left and self._parts.stop.is_set() and self._parts.clock.monotonic() > deadline:
                for plan in self._parts.roots.values():
                    plan.conversions.close()
                deadline = float("inf")

    def _give_back(self) -> None:
        left = [source.id for source in self._in_hand()]
        if left:
            with self._parts.ledger.write("give-back") as transaction:
                outcomes.unclaim(transaction, left)
