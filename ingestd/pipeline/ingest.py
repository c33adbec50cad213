"""Works off what is due: looks, prepares in parallel, publishes in groups; one thread decides and writes the ledger."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue

from ingestd.discover.settle import Settling
from ingestd.errors import EmbedderUnavailable, IngestdError, PermanentError, SourceGone, TransientError
from ingestd.logs import Log
from ingestd.pipeline.ahead import Ahead
from ingestd.pipeline.attempt import record_failure
from ingestd.pipeline.choosing import Choosing
from ingestd.pipeline.group import Stopped, answers, bring_in, embed
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.prepare import Failed, FailedBefore, Outcome, Prepared, Unchanged, prepare
from ingestd.pipeline.tally import Tally
from ingestd.state import outcomes, quarantine, sources
from ingestd.state.sources import SourceRow

GROUP_DOCUMENTS = 64
GROUP_BYTES = 4 * 1024 * 1024
"""Of chunk texts."""
GROUP_SECONDS = 0.5
"""How long a prepared document waits for others to share its flush."""
GROUP_TEXTS = 256
"""Texts to embed: a slow device must not keep finished documents from being searchable. More where it embedded more in
``GROUP_SECONDS``: what costs the same for any group is shared by more documents then."""
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
        self._texts_a_group = GROUP_TEXTS
        self._ahead = Ahead(parts, tally)

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
        return [*self._running.values(), *(prepared.source for prepared in self._prepared), *self._same]

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
                    self._tally.touch("removed", claimed.root_id, claimed.path)
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
            or texts >= self._texts_a_group
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
        wanted = self._still_wanted(group)
        if wanted:
            self._bring(wanted)
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

    def _still_wanted(self, group: Sequence[Prepared]) -> list[Prepared]:
        """Those that were not lost, forgotten or held while they were being made."""
        with self._parts.ledger.read() as transaction:
            pending = sources.still_pending(transaction, [prepared.source.id for prepared in group])
        return [prepared for prepared in group if prepared.source.id in pending]

    def _bring(self, group: Sequence[Prepared], *, alone: bool = False) -> None:
        embedded_before, seconds_before = self._tally.counts["embedded"], self._tally.seconds["embed"]
        stage = "embed"
        try:
            versions = embed(self._parts, group, self._tally, self._ahead.vectors)
            stage = "publish"
            bring_in(self._parts, versions, self._tally)
        except Stopped:
            self._prepared = [*group, *self._prepared]
            raise
        except EmbedderUnavailable as error:
            if alone:
                raise
            self._bring_apart(group, error)
            return
        except TransientError as error:
            self._defer(group, error)
            raise
        except PermanentError as error:
            self._bring_each(group, stage, error)
            return
        except IngestdError:
            self._prepared = [*group, *self._prepared]
            raise
        except Exception as error:  # noqa: BLE001  one attempt at one source: a bug must not stop the others
            self._bring_each(group, stage, error)
            return
        self._learn_pace(embedded_before, seconds_before)
        for prepared in group:
            log.info(
                "document.committed",
                document=prepared.origin.doc_id,
                root=prepared.plan.name,
                path=prepared.source.path,
                chunks=len(prepared.chunks),
            )

    def _learn_pace(self, embedded_before: int, seconds_before: float) -> None:
        embedded = self._tally.counts["embedded"] - embedded_before
        seconds = self._tally.seconds["embed"] - seconds_before
        if embedded:
            self._texts_a_group = max(GROUP_TEXTS, int(embedded / max(seconds, 0.001) * GROUP_SECONDS))

    def _bring_each(self, group: Sequence[Prepared], stage: str, error: Exception) -> None:
        """Find out which documents fail: each by itself."""
        if len(group) == 1:
            record_failure(self._parts, _failed(group[0], stage, error))
            return
        rest = list(group)
        try:
            while rest:
                self._bring([rest.pop(0)])
        finally:
            self._prepared = [*rest, *self._prepared]

    def _bring_apart(self, group: Sequence[Prepared], error: EmbedderUnavailable) -> None:
        """Find out whether one document's texts end the embedder: the others go on without it."""
        rest = list(group)
        try:
            while rest:
                one = rest.pop(0)
                try:
                    self._bring([one], alone=True)
                except EmbedderUnavailable as again:
                    if not answers(one.plan.embedding):
                        self._defer([one, *rest], error)
                        rest = []
                        raise
                    record_failure(self._parts, _failed(one, "embed", again))
        finally:
            self._prepared = [*rest, *self._prepared]

    def _defer(self, group: Sequence[Prepared], error: TransientError) -> None:
        for prepared in group:
            record_failure(self._parts, Failed(source=prepared.source, stage="publish", stage_digest="", error=error))

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


def _failed(prepared: Prepared, stage: str, error: Exception) -> Failed:
    return Failed(source=prepared.source, stage=stage, stage_digest=prepared.origin.recipe.digest, error=error)
