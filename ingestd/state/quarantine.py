"""Sources that failed for good, and why."""

from dataclasses import dataclass

from sqlalchemy import RowMapping

from ingestd.model.identity import Fingerprint
from ingestd.state.engine import Transaction, driver
from ingestd.state.sources import SourceRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a source is in quarantine."""

    stage: str
    """``stage``, ``convert``, ``chunk``, ``embed`` or ``publish``."""
    stage_digest: str
    """Identity of the stage that failed: another one frees the source."""
    error: str
    """Class name."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineRow:
    """A source in quarantine."""

    source_id: int
    root: str
    path: bytes
    failure: Failure
    attempts: int
    since_ns: int


def put(transaction: Transaction, source: SourceRow, failure: Failure, attempts: int, now_ns: int) -> None:
    """Quarantine the source; one that changed meanwhile stays pending."""
    changed = transaction.exec_driver_sql(
        "UPDATE source SET state = 'quarantined', crashes = 0 WHERE id = :id AND seq = :seq AND state = 'pending'",
        {"id": source.id, "seq": source.seq},
    ).rowcount
    if changed:
        transaction.exec_driver_sql(
            "INSERT INTO quarantine(source_id, fingerprint, stage, stage_digest, error, reason, attempts, "
            "since_ns) SELECT id, fingerprint, :stage, :digest, :error, :reason, :attempts, :now "
            "FROM source WHERE id = :id "
            "ON CONFLICT(source_id) DO UPDATE SET fingerprint = excluded.fingerprint, stage = :stage, "
            "stage_digest = :digest, error = :error, reason = :reason, attempts = :attempts, since_ns = :now",
            {
                "id": source.id,
                "stage": failure.stage,
                "digest": failure.stage_digest,
                "error": failure.error,
                "reason": failure.reason,
                "attempts": attempts,
                "now": now_ns,
            },
        )


def known_failure(transaction: Transaction, fingerprint: Fingerprint, stage_digest: str) -> Failure | None:
    """Why the same bytes failed in the same stage: a copy of a bad file is not tried again."""
    found = driver(transaction).execute(
        "SELECT stage, stage_digest, error, reason FROM quarantine "
        "WHERE fingerprint = :fingerprint AND stage_digest = :digest AND stage = 'convert' LIMIT 1",
        {"fingerprint": bytes.fromhex(fingerprint), "digest": stage_digest},
    )
    row = found.fetchone()
    return None if row is None else Failure(stage=row[0], stage_digest=row[1], error=row[2], reason=row[3])


def all_quarantined(transaction: Transaction) -> tuple[QuarantineRow, ...]:
    """Everything in quarantine, by root and path."""
    rows = transaction.exec_driver_sql(
        "SELECT source_id, root.name AS root, directory, source.name AS name, stage, stage_digest, error, "
        "quarantine.reason AS reason, quarantine.attempts AS attempts, since_ns FROM quarantine "
        "JOIN source ON source.id = source_id JOIN root ON root.id = root_id "
        "ORDER BY root.name, directory, source.name"
    )
    return tuple(_row(row) for row in rows.mappings())


def _row(values: RowMapping) -> QuarantineRow:
    directory, name = bytes(values["directory"]), bytes(values["name"])
    return QuarantineRow(
        source_id=values["source_id"],
        root=values["root"],
        path=directory + b"/" + name if directory else name,
        failure=Failure(
            stage=values["stage"],
            stage_digest=values["stage_digest"],
            error=values["error"],
            reason=values["reason"],
        ),
        attempts=values["attempts"],
        since_ns=values["since_ns"],
    )
