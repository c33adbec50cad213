"""What becomes of a source after one attempt that did not end in a served version."""

from collections.abc import Iterable
from traceback import format_exception
from typing import TYPE_CHECKING

from ingestd.errors import (
    AdapterUnavailable,
    ConfigurationError,
    EmbedderUnavailable,
    FileStillChanging,
    OutOfSpace,
    PermanentError,
    StoreUnavailable,
    TransientError,
)
from ingestd.logs import Log
from ingestd.model.source import Signature
from ingestd.pipeline.backoff import LONGEST_SECONDS, MOST_ATTEMPTS_OF_A_BUG, delay_seconds
from ingestd.pipeline.parts import Parts
from ingestd.publish.swap import retire
from ingestd.state import outcomes, quarantine, sightings, sources
from ingestd.state.quarantine import Failure
from ingestd.state.sources import SourceRow

if TYPE_CHECKING:
    from ingestd.pipeline.prepare import Failed

SHORTEST_SETTLE_SECONDS = 1.0
"""A file that changed while it was read is not tried again at once, whatever the settling time."""
LONGEST_OUTAGE_SECONDS = 60.0
"""Longest back-off where the machine or the store failed, not the file: all goes on soon after it is mended."""
_NANOSECONDS = 1_000_000_000

log = Log(__name__)


def record_failure(parts: Parts, failed: "Failed") -> None:
    """State in the ledger what the failure means for the source."""
    source, error = failed.source, failed.error
    match error:
        case FileStillChanging():
            # Without a reason: whoever waits for files that still settle waits for this one too.
            _defer(parts, source, max(parts.settle_seconds, SHORTEST_SETTLE_SECONDS), None)
        case EmbedderUnavailable() if source.attempts >= MOST_ATTEMPTS_OF_A_BUG and failed.stage == "embed":
            # With these texts alone, while it answers to others.
            _quarantine(parts, failed)
        case StoreUnavailable() | OutOfSpace() | EmbedderUnavailable():
            _defer(parts, source, error.delay_seconds, str(error), longest=LONGEST_OUTAGE_SECONDS)
        case TransientError():
            _defer(parts, source, error.delay_seconds, str(error))
        case PermanentError():
            _quarantine(parts, failed)
        case AdapterUnavailable() | ConfigurationError():
            # No fault of the file: an engine did not start, or was given options that it refuses.
            _defer(parts, source, None, str(error))
        case OSError():
            _defer(parts, source, None, f"{type(error).__name__}: {error.strerror or error}")
        case _:
            log.error(
                "source.bug",
                path=source.path,
                stage=failed.stage,
                attempts=source.attempts,
                traceback="".join(format_exception(error)),
            )
            if source.attempts >= MOST_ATTEMPTS_OF_A_BUG:
                _quarantine(parts, failed)
            else:
                _defer(parts, source, None, f"{type(error).__name__}: {error}")


def blame(parts: Parts, source: SourceRow) -> None:
    """Quarantine a source whose every recent claim ended with the death of this process."""
    failure = Failure(
        stage="convert",
        stage_digest="",
        error="RepeatedCrash",
        reason=f"ingestd died {source.crashes} times in a row while it worked on this file: see its log, then `retry`",
    )
    with parts.ledger.write("quarantine") as transaction:
        quarantine.put(transaction, source, failure, source.attempts, parts.clock.wall_ns())


def note(parts: Parts, source: SourceRow, signature: Signature) -> SourceRow:
    """Remember what was seen last; gives the source as it stands in the ledger then, pending."""
    note_all(parts, [(source, signature)])
    with parts.ledger.read() as transaction:
        (noted,) = sources.by_ids(transaction, [source.id])
    return noted


def note_all(parts: Parts, seen: Iterable[tuple[SourceRow, Signature]]) -> None:
    """Remember what was seen last of each source, under one commit."""
    changed = [(source, signature) for source, signature in seen if signature != source.signature]
    if changed:
        with parts.ledger.write("look") as transaction:
            for source, signature in changed:
                sightings.look_again(transaction, source, signature, parts.clock.wall_ns())


def _defer(
    parts: Parts, source: SourceRow, delay: float | None, reason: str | None, *, longest: float = LONGEST_SECONDS
) -> None:
    backed_off = min(delay_seconds(max(source.attempts, 1), parts.clock.random), longest)
    seconds = delay if delay is not None else backed_off
    with parts.ledger.write("defer") as transaction:
        outcomes.defer(transaction, source, parts.clock.wall_ns() + int(seconds * _NANOSECONDS), reason)


def _quarantine(parts: Parts, failed: "Failed") -> None:
    source = failed.source
    failure = Failure(
        stage=failed.stage,
        stage_digest=failed.stage_digest,
        error=type(failed.error).__name__,
        reason=str(failed.error),
    )
    log.warning(
        "source.quarantined",
        path=source.path,
        stage=failure.stage,
        error=failure.error,
        reason=failure.reason,
    )
    with parts.ledger.write("quarantine") as transaction:
        outcomes.hashed(transaction, source)
        quarantine.put(transaction, source, failure, max(source.attempts, 1), parts.clock.wall_ns())
    if parts.on_failure == "retract":
        retire(parts.ledger, parts.collections.store, [source])
