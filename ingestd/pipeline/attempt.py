"""What becomes of a source after one attempt that did not end in a served version."""

from traceback import format_exception
from typing import TYPE_CHECKING

from ingestd.errors import (
    AdapterUnavailable,
    EmbedderUnavailable,
    FileStillChanging,
    PermanentError,
    SourceGone,
    TransientError,
)
from ingestd.logs import Log
from ingestd.model.source import Signature
from ingestd.pipeline.backoff import MOST_ATTEMPTS_OF_A_BUG, delay_seconds
from ingestd.pipeline.parts import Parts
from ingestd.publish.swap import retire
from ingestd.state import quarantine, sources
from ingestd.state.quarantine import Failure
from ingestd.state.sources import SourceRow

if TYPE_CHECKING:
    from ingestd.pipeline.prepare import Failed

_NANOSECONDS = 1_000_000_000

log = Log(__name__)


def record_failure(parts: Parts, failed: "Failed") -> None:
    """State in the ledger what the failure means for the source."""
    source, error = failed.source, failed.error
    match error:
        case SourceGone():
            lose(parts, source)
        case FileStillChanging():
            _defer(parts, source, parts.settle_seconds, None)
        case EmbedderUnavailable() if source.attempts >= MOST_ATTEMPTS_OF_A_BUG and failed.stage == "embed":
            _quarantine(parts, failed)
        case TransientError():
            _defer(parts, source, error.delay_seconds, str(error))
        case PermanentError():
            _quarantine(parts, failed)
        case AdapterUnavailable():
            # No fault of the file: an engine did not start.
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


def wait_until_still(parts: Parts, source: SourceRow, signature: Signature) -> None:
    """Remember what was seen last; the source stays pending."""
    if signature != source.signature:
        with parts.ledger.write("look") as transaction:
            sources.look_again(transaction, source, signature, parts.clock.wall_ns())


def lose(parts: Parts, source: SourceRow) -> None:
    """The file is gone: its removal is due."""
    directory, _, name = source.path.rpartition(b"/")
    with parts.ledger.write("lost") as transaction:
        sources.lost(transaction, source.root_id, directory, [name], parts.clock.wall_ns())


def _defer(parts: Parts, source: SourceRow, delay: float | None, reason: str | None) -> None:
    seconds = delay if delay is not None else delay_seconds(max(source.attempts, 1), parts.clock.random)
    with parts.ledger.write("defer") as transaction:
        sources.defer(transaction, source, parts.clock.wall_ns() + int(seconds * _NANOSECONDS), reason)


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
        sources.hashed(transaction, source)
        quarantine.put(transaction, source, failure, max(source.attempts, 1), parts.clock.wall_ns())
    if parts.on_failure == "retract":
        retire(parts.ledger, parts.collections.store, [source])
