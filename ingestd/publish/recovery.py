"""Makes ledger and store agree again after a crash, a loss or a restore.

Every owner's run puts a fresh token into the ledger and into each collection, and marks the ledger unclean; a clean
stop puts the same new token into both. When ledger and collection disagree, or the ledger is unclean, the store is
read once (id, document, version) and compared with the ledger; documents that differ are *adopted*: what the store
holds is taken for their served version, and they are made again, from the caches, under a version above both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex

from ingestd.errors import StoreMismatch
from ingestd.failpoints import failpoint
from ingestd.model.identity import DocumentId, Instance, PointId, RootName
from ingestd.model.paths import path_from_fields
from ingestd.model.point import Claim, Deletion
from ingestd.ports.store import Store
from ingestd.publish.swap import drain
from ingestd.state import documents, facts, intents, outcomes, roots, sightings
from ingestd.state.engine import Ledger, Transaction
from ingestd.state.generations import GenerationRow

_TOKEN = "token"  # noqa: S105  not a secret: it tells two moments apart
_CLEAN = "clean"
_FIELDS = ("doc_id", "doc_version", "root", "path", "path_b64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What a recovery found."""

    compared: bool
    """Whether the store had to be read."""
    adopted: int
    """Documents whose points were not what the ledger expected."""
    abandoned: int
    """Versions that were being written."""
    rolled_forward: int
    """Writes that served versions still owed."""


@dataclass(slots=True)
class _Found:
    root: str
    path: bytes
    versions: dict[PointId, int]


def is_clean(transaction: Transaction) -> bool:
    """Whether the last owner stopped cleanly, as far as the ledger knows."""
    return facts.read(transaction, _CLEAN) == "1"


def token(transaction: Transaction) -> str | None:
    """Token of the ledger; a collection with another one is of another moment."""
    return facts.read(transaction, _TOKEN)


def recover(
    ledger: Ledger,
    store: Store,
    generation: GenerationRow,
    *,
    instance: Instance,
    state_id: str,
    expected_token: str | None,
    adopt: bool,
    now_ns: int,
) -> Recovered:
    """Repair whatever the last owner left undone in a collection.

    Parameters
    ----------
    expected_token
        What the collection holds if the last run stopped cleanly; ``None`` when it did not.

    Raises
    ------
    StoreMismatch
        When another state claims the collection and ``adopt`` is false.
    """
    physical = generation.generation
    made = store.prepare(physical)
    claim = store.claim(physical)
    refuse_stranger(claim, physical.name, instance, state_id, adopt=adopt)
    compared = made or claim is None or claim.state_id != state_id or claim.token != expected_token
    adopted = _adopt_differences(ledger, store, generation, now_ns) if compared else 0
    # Of this generation only: another one may not be there yet, and is compared before its own outbox is applied.
    overwritten, deleted = drain(ledger, store, generation_id=generation.id)
    abandoned = _abandon_intents(ledger, store, generation, idle_only=False)
    return Recovered(compared=compared, adopted=adopted, abandoned=abandoned, rolled_forward=overwritten + deleted)


def settle(ledger: Ledger, store: Store, generation: GenerationRow) -> None:
    """Do what a store that failed for a while is still owed, in a collection that was recovered before.

    Versions that will not be tried again (their file changed for the worse, or is held) are abandoned.
    """
    drain(ledger, store, generation_id=generation.id)
    _abandon_intents(ledger, store, generation, idle_only=True)


def begin(ledger: Ledger) -> str:
    """Mark the ledger unclean, under a new token, before the first write of a run; returns the token."""
    new = token_hex(16)
    with ledger.write("begin") as transaction:
        facts.state(transaction, _CLEAN, "0")
        facts.state(transaction, _TOKEN, new)
    return new


def record_token(store: Store, generation: GenerationRow, *, instance: Instance, state_id: str, token_now: str) -> None:
    """Put the ledger's token into the collection."""
    failpoint("publish.claim.before")
    store.record_claim(generation.generation, Claim(instance=instance, state_id=state_id, token=token_now))
    failpoint("publish.claim.after")


def end(ledger: Ledger) -> None:
    """Mark the ledger clean: nothing is open, and every collection holds its token."""
    with ledger.write("end") as transaction:
        if intents.is_outbox_empty(transaction) and not intents.open_intents(transaction):
            facts.state(transaction, _CLEAN, "1")


def refuse_stranger(claim: Claim | None, name: str, instance: Instance, state_id: str, *, adopt: bool) -> None:
    """Raise ``StoreMismatch`` when the collection is claimed by another state and that is not to be taken over."""
    if claim is None or adopt or (claim.instance == instance and claim.state_id == state_id):
        return
    raise StoreMismatch(
        f"the collection {name} is written by another installation (instance {claim.instance!r}, state "
        f"{claim.state_id}): stop it and run again with --adopt to take the collection over, or choose another "
        "collection or instance name"
    )


def _adopt_differences(ledger: Ledger, store: Store, generation: GenerationRow, now_ns: int) -> int:
    found = _read_store(store, generation)
    with ledger.read() as transaction:
        expected = {row.doc_id: row for row in documents.in_generation(transaction, generation.id)}
        owed = intents.owed_points(transaction)
        differing = [
            doc_id
            for doc_id in {*found, *expected}
            if _differs(transaction, expected.get(doc_id), found.get(doc_id), owed)
        ]
    newest = max((version for one in found.values() for version in one.versions.values()), default=0)
    if differing:
        with ledger.write("floor") as transaction:
            documents.raise_floor(transaction, newest)
    for doc_id in differing:
        with ledger.write("adopt") as transaction:
            _adopt(transaction, generation, doc_id, expected.get(doc_id), found.get(doc_id), now_ns)
    return len(differing)


def _read_store(store: Store, generation: GenerationRow) -> dict[DocumentId, _Found]:
    found: dict[DocumentId, _Found] = {}
    for point in store.scroll(generation.generation, _FIELDS):
        doc_id = DocumentId(str(point.payload["doc_id"]))
        if doc_id not in found:
            found[doc_id] = _Found(str(point.payload["root"]), path_from_fields(point.payload), {})
        found[doc_id].versions[point.id] = int(point.payload["doc_version"])
    return found


def _differs(
    transaction: Transaction,
    row: documents.DocumentRow | None,
    found: _Found | None,
    owed: Mapping[int, frozenset[PointId]],
) -> bool:
    versions = found.versions if found else {}
    if row is None:
        return bool(versions)
    served = documents.points(transaction, row.id)
    debts = owed.get(row.id, frozenset())
    explained = served | debts | intents.intended_points(transaction, row.id)
    return (
        not served <= versions.keys()
        or not versions.keys() <= explained
        or any(version > row.last_version for version in versions.values())
        # A kept point that lags behind without a debt: the store is of an older moment than the ledger.
        or any(versions[id_] != row.version for id_ in served - debts)
    )


def _adopt(
    transaction: Transaction,
    generation: GenerationRow,
    doc_id: DocumentId,
    row: documents.DocumentRow | None,
    found: _Found | None,
    now_ns: int,
) -> None:
    versions = found.versions if found else {}
    if row is None:
        assert found is not None
        source_id = sightings.adopt(transaction, _root_id(transaction, found.root, generation), found.path, now_ns)
        row = documents.ensure(transaction, generation.id, doc_id, source_id)
    documents.adopt(transaction, row.id, versions)
    outcomes.mark_pending(transaction, [row.source_id])


def _root_id(transaction: Transaction, name: str, generation: GenerationRow) -> int:
    known = {root.name: root.id for root in roots.all_roots(transaction)}
    if name in known:
        return known[RootName(name)]
    # A root that only the store remembers: detached, so that its documents stay until someone confirms.
    row = roots.record(transaction, name, b"", generation.generation.collection, "configured")
    roots.set_state(transaction, row.id, "detached", "known to the store only")
    return row.id


def _abandon_intents(ledger: Ledger, store: Store, generation: GenerationRow, *, idle_only: bool) -> int:
    with ledger.read() as transaction:
        opened = [
            one for one in intents.open_intents(transaction, idle_only=idle_only) if one.generation_id == generation.id
        ]
    if not opened:
        return 0
    # Only ids that the intent alone wrote: what the served version holds is not among them.
    deletions = [Deletion(id=id_, below_version=one.version + 1) for one in opened for id_ in one.points]
    if deletions:
        store.delete(generation.generation, deletions)
        failpoint("publish.abandon.deleted")
        store.flush(generation.generation)
    with ledger.write("abandon") as transaction:
        for one in opened:
            intents.close_intent(transaction, one.document_id)
    return len(opened)
