"""Brings groups of prepared documents into the index; finds out which of them fail."""

from collections.abc import Sequence

from ingestd.errors import EmbedderUnavailable, IngestdError, PermanentError, TransientError
from ingestd.logs import Log
from ingestd.pipeline.ahead import Ahead
from ingestd.pipeline.attempt import record_failure
from ingestd.pipeline.group import Stopped, answers, bring_in, embed
from ingestd.pipeline.parts import Parts
from ingestd.pipeline.prepare import Failed, Prepared
from ingestd.pipeline.tally import Tally
from ingestd.state import sources

GROUP_SECONDS = 0.5
"""How long a prepared document waits for others to share its flush."""
GROUP_TEXTS = 256
"""Texts to embed: a slow device must not keep finished documents from being searchable. More where it embedded more in
``GROUP_SECONDS``: what costs the same for any group is shared by more documents then."""

log = Log(__name__)


class Bringing:
    """Embeds and publishes, a group at a time."""

    def __init__(self, parts: Parts, tally: Tally, ahead: Ahead) -> None:
        self._parts = parts
        self._tally = tally
        self._ahead = ahead
        self.texts_a_group = GROUP_TEXTS
        """Texts that make a group full."""
        self.left: list[Prepared] = []
        """Documents whose turn was cut short: their claims are to be given back."""

    def bring(self, group: Sequence[Prepared]) -> None:
        """Embed the documents that are still wanted, then serve them.

        A document that fails is recorded as such, without harm to the others.

        Raises
        ------
        Stopped
            When told to stop.
        TransientError
            When an engine went away; the documents were deferred.
        IngestdError
            What is no fault of a document.
        """
        wanted = self._still_wanted(group)
        if wanted:
            self._bring(wanted)

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
            self.left += group
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
            self.left += group
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
            self.texts_a_group = max(GROUP_TEXTS, int(embedded / max(seconds, 0.001) * GROUP_SECONDS))

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
            self.left += rest

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
            self.left += rest

    def _defer(self, group: Sequence[Prepared], error: TransientError) -> None:
        for prepared in group:
            record_failure(self._parts, Failed(source=prepared.source, stage="publish", stage_digest="", error=error))


def _failed(prepared: Prepared, stage: str, error: Exception) -> Failed:
    return Failed(source=prepared.source, stage=stage, stage_digest=prepared.origin.recipe.digest, error=error)
