"""Takes versions that are served without their file along into another vector space, from cached conversions."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from ingestd.errors import PermanentError, UnsupportedType
from ingestd.logs import Log
from ingestd.model.identity import RootName
from ingestd.model.source import SourceKey, display
from ingestd.pipeline.group import Stopped, embed
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.prepare import Conversion, Prepared, assembled
from ingestd.pipeline.tally import Tally
from ingestd.publish.payload import Facts
from ingestd.publish.swap import publish
from ingestd.state import documents, roots, sources
from ingestd.state.documents import DocumentRow
from ingestd.state.generations import GenerationRow
from ingestd.state.sources import SourceRow

_WITHOUT_FILE = ("quarantined", "held", "gone")
_NO_SEQUENCE = -1
"""Of no source: what is published says nothing of the file as it is now, whose state stays."""
_SECOND = 1_000_000_000

log = Log(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A version that is served although its file cannot be made again: it fails now, is held, or is gone."""

    source: SourceRow
    document: DocumentRow
    plan: RootPlan


def carry_over(parts: Parts, live: GenerationRow, building: GenerationRow, tally: Tally) -> bool:
    """Publish what the live generation serves without its file in the one being built, as far as it can be made.

    Returns
    -------
    bool
        False when told to stop before all was done, or when what cannot be made may still turn out to be no loss.

    Raises
    ------
    StoreUnavailable, EmbedderUnavailable
        Nothing is lost: it is tried again.
    """
    for kept in _kept(parts, live, building):
        try:
            again = _again(parts, kept, live, building, tally)
            versions = embed(parts, [again], tally, {}) if again else []
        except Stopped:
            return False
        except (PermanentError, ValueError) as error:
            _tell(kept, str(error))
            continue
        if again is None and _is_undecided(parts, kept.source):
            return False
        if again is None:
            _tell(kept, "its conversion is not in the cache any more")
        published = publish(parts.ledger, parts.collections.store, versions, parts.clock.wall_ns())
        tally.add("chunks", sum(len(version.chunks) for version in versions))
        tally.add("points_written", published.written)
    return True


def prepared(parts: Parts, live: GenerationRow, building: GenerationRow) -> Iterator[Prepared]:
    """What :func:`carry_over` would publish; changes nothing."""
    for kept in _kept(parts, live, building):
        with contextlib.suppress(PermanentError, ValueError):
            again = _again(parts, kept, live, building, Tally())
            if again is not None:
                yield again


def left_behind(parts: Parts, live: GenerationRow, building: GenerationRow | None) -> Iterator[tuple[RootName, bytes]]:
    """Roots and paths of versions that cannot be taken along."""
    for kept in _kept(parts, live, building):
        if _converted(parts, kept, live) is None:
            yield kept.plan.name, kept.source.path


def _is_undecided(parts: Parts, source: SourceRow) -> bool:
    """Whether its file went so lately that it may be back, or its removal held, in a moment."""
    age = (parts.clock.wall_ns() - source.looked_ns) / _SECOND
    return source.state == "gone" and 0 <= age < parts.settle_seconds


def _tell(kept: _Kept, reason: str) -> None:
    path = display(kept.source.path)
    log.warning("document.left_behind", document=kept.document.doc_id, root=kept.plan.name, path=path, reason=reason)


def _kept(parts: Parts, live: GenerationRow, building: GenerationRow | None) -> Iterator[_Kept]:
    with parts.ledger.read() as transaction:
        served = {row.source_id: row for row in documents.in_generation(transaction, live.id) if row.version}
        also = () if building is None else documents.in_generation(transaction, building.id)
        lacking = served.keys() - {row.source_id for row in also if row.version}
        found = sources.by_ids(transaction, sorted(lacking))
        rows = {row.id: row for row in roots.all_roots(transaction)}
    own = {id_: plan for id_, plan in parts.roots.items() if plan.collection == live.generation.collection}
    # A root that left the configuration, or this collection, has no plan: whatever else goes here shares its vectors.
    alike = next(iter(own.values()), None)
    for source in found:
        plan = own.get(source.root_id, alike)
        is_kept = source.root_id not in own or source.state in _WITHOUT_FILE
        if plan is not None and is_kept and not source.confirmed:
            yield _Kept(source=source, document=served[source.id], plan=replace(plan, row=rows[source.root_id]))


def _again(parts: Parts, kept: _Kept, live: GenerationRow, building: GenerationRow, tally: Tally) -> Prepared | None:
    found = _converted(parts, kept, live)
    if found is None:
        return None
    as_served, conversion = found
    return assembled(parts, kept.plan, building, as_served, conversion, tally)


def _converted(parts: Parts, kept: _Kept, live: GenerationRow) -> tuple[SourceRow, Conversion] | None:
    """The source as it was when its served version was made, and the conversion cached of that."""
    with parts.ledger.read() as transaction:
        points = sorted(documents.points(transaction, kept.document.id))
    stored = parts.collections.store.retrieve(live.generation, points[:1])
    fingerprint = kept.document.made.fingerprint
    if fingerprint is None or not stored:
        return None
    payload = stored[0].payload
    mime, name = str(payload["mime"]), display(kept.source.path.rpartition(b"/")[2])
    try:
        cached = kept.plan.conversions.cached(fingerprint, mime, name)
    except UnsupportedType:
        return None
    if cached is None:
        return None
    facts = Facts(
        key=SourceKey(kept.plan.name, kept.source.path),
        mime=mime,
        modified_ns=int(datetime.fromisoformat(str(payload["modified_at"])).timestamp()) * _SECOND,
        tags=tuple(payload["tags"]),
    )
    as_served = replace(kept.source, fingerprint=fingerprint, mime=mime, seq=_NO_SEQUENCE)
    return as_served, Conversion(document=cached, facts=facts, reused=True)
