"""Chooses which of the sources that are due can be worked on now."""

from collections.abc import Collection
from dataclasses import dataclass

from ingestd.discover.settle import Settling
from ingestd.logs import Log
from ingestd.model.source import Signature
from ingestd.pipeline import attempt, look
from ingestd.pipeline.backoff import MOST_CRASHES
from ingestd.pipeline.missing import look_for
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.prepare import Failed
from ingestd.pipeline.tally import Tally
from ingestd.publish.collections import NeedsReindex
from ingestd.state import sources
from ingestd.state.generations import GenerationRow
from ingestd.state.sources import SourceRow

_START = (False, 0)

log = Log(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A source that has been left alone long enough, with what it is to become."""

    source: SourceRow
    plan: RootPlan
    generation: GenerationRow


class Choosing:
    """Sweeps over the sources that are due, each looked at once a sweep: those that still change keep no other waiting.

    Parameters
    ----------
    settling
        Files that were seen to change.
    """

    def __init__(self, parts: Parts, tally: Tally, settling: Settling[int]) -> None:
        self._parts = parts
        self._tally = tally
        self._settling = settling
        self._place = _START
        self._fruitful = False
        self._moving: list[tuple[SourceRow, Signature]] = []
        self._missing: list[SourceRow] = []
        self.paused: set[str] = set()
        """Collections whose ingestion waits for a reindex."""

    def next(self, room: int, busy: Collection[int]) -> list[Chosen] | None:
        """Up to ``room`` more sources; ``None`` once a whole sweep has found nothing to work on.

        Parameters
        ----------
        busy
            Ids of sources in work.
        """
        looked_at = self._candidates(room, busy)
        if not looked_at:
            exhausted = not (self._fruitful or busy)
            self._place, self._fruitful = _START, bool(busy)
            return None if exhausted else []
        self._place = (looked_at[-1].crashes > 0, looked_at[-1].id)
        targets: dict[int, GenerationRow] = {}
        found = [one for source in looked_at if (one := self._ready(source, targets)) is not None]
        self._fruitful = self._fruitful or bool(found)
        attempt.note_all(self._parts, self._moving)
        look_for(self._parts, self._missing, self._tally)
        self._moving, self._missing = [], []
        return found

    def _candidates(self, room: int, busy: Collection[int]) -> list[SourceRow]:
        roots = [id_ for id_, plan in self._parts.roots.items() if str(plan.collection) not in self.paused]
        now = self._parts.clock.wall_ns()
        with self._parts.ledger.read() as transaction:
            due = sources.due(transaction, now, room + len(busy), roots, after=self._place)
        found = [source for source in due if source.id not in busy]
        calm = [source for source in found if not source.crashes]
        # What was in work when this process died last is tried alone, so that only the guilty file is blamed again.
        return calm[:room] or ([] if busy else found[:1])

    def _ready(self, source: SourceRow, targets: dict[int, GenerationRow]) -> Chosen | None:
        plan = self._parts.roots[source.root_id]
        if source.crashes >= MOST_CRASHES:
            attempt.blame(self._parts, source)
            return None
        match look.look(plan, source, self._settling, self._parts.clock):
            case look.Still():
                return self._chosen(source, plan, targets)
            case look.Newer(signature):
                return self._chosen(attempt.note(self._parts, source, signature), plan, targets)
            case look.Moving(signature):
                self._moving.append((source, signature))
            case look.Absent():
                self._missing.append(source)
            case look.Unreachable(error):
                failed = Failed(source=source, stage="stage", stage_digest="", error=error)
                attempt.record_failure(self._parts, failed)
        return None

    def _chosen(self, source: SourceRow, plan: RootPlan, targets: dict[int, GenerationRow]) -> Chosen | None:
        generation = targets.get(source.root_id) or self._target(plan)
        if generation is None:
            return None
        targets[source.root_id] = generation
        return Chosen(source=source, plan=plan, generation=generation)

    def _target(self, plan: RootPlan) -> GenerationRow | None:
        if str(plan.collection) in self.paused:
            return None
        try:
            return self._parts.collections.target(plan.collection, plan.space, self._parts.clock.wall_ns())
        except NeedsReindex as error:
            log.debug("collection.needs-reindex", collection=plan.collection, reason=str(error))
            self.paused.add(str(plan.collection))
            return None
