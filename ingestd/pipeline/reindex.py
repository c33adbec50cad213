"""Brings served documents to the recipe in force, and says beforehand what that costs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ingestd.errors import UnsupportedType
from ingestd.model.identity import CollectionName
from ingestd.model.paths import path_fields
from ingestd.model.point import Generation
from ingestd.model.recipe import Recipe
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.tally import Tally
from ingestd.publish.points import swap
from ingestd.state import documents, generations, outcomes, quarantine, sources
from ingestd.state.documents import DocumentRow
from ingestd.state.engine import Transaction
from ingestd.state.generations import GenerationRow
from ingestd.state.sources import SourceRow

if TYPE_CHECKING:
    from ingestd.pipeline.prepare import Prepared

_NOT_YET = -1
"""Id of a row that a run would add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A document that another recipe made."""

    source: SourceRow
    document: DocumentRow
    generation: GenerationRow
    plan: RootPlan
    why: str
    """Which stages changed."""


def stale_documents(parts: Parts, root_ids: Collection[int]) -> list[Stale]:
    """Served documents of these roots whose recipe is not the one in force; those of another vector space apart."""
    found: list[Stale] = []
    with parts.ledger.read() as transaction:
        for generation in generations.all_generations(transaction):
            if generation.state != "live":
                continue
            for document in documents.in_generation(transaction, generation.id):
                one = _stale(transaction, parts, root_ids, generation, document)
                if one is not None:
                    found.append(one)
    return found


def mark_stale(parts: Parts, stale: Collection[Stale]) -> None:
    """Have the documents made again; what was marked stays marked through a crash."""
    with parts.ledger.write("stale") as transaction:
        outcomes.mark_pending(transaction, [one.source.id for one in stale])


def free_quarantined(parts: Parts) -> int:
    """Let sources out of quarantine whose failing stage has another identity by now; returns how many."""
    with parts.ledger.read() as transaction:
        rows = quarantine.all_quarantined(transaction)
        by_id = {source.id: source for source in sources.in_state(transaction, "quarantined")}
    freed = [row.source_id for row in rows if _is_freed(parts, by_id.get(row.source_id), row.failure)]
    if freed:
        with parts.ledger.write("freed") as transaction:
            outcomes.mark_pending(transaction, freed)
    return len(freed)


def plan_document(
    parts: Parts, root_ids: Collection[int], outdated: Mapping[CollectionName, RootPlan]
) -> dict[str, Any]:
    """The contract's ``plan`` document for a reindex: exact wherever the conversion is cached; changes nothing.

    Parameters
    ----------
    outdated
        Collections that would be rebuilt, as :func:`ingestd.pipeline.rebuild.outdated` gives them.
    """
    # Here, so that a pass that finds nothing to do never imports the chunkers.
    from ingestd.pipeline.prepare import Prepared, prepare

    stale = stale_documents(parts, root_ids)
    rebuilt = [one for collection, plan in outdated.items() for one in _rebuilt(parts, collection, plan)]
    totals: dict[str, int] = dict.fromkeys(("convert", "chunk", "embed", "write", "overwrite", "delete"), 0)
    texts: dict[int, tuple[RootPlan, dict[str, None]]] = {}
    estimated = False
    for one in [*stale, *rebuilt]:
        totals["chunk"] += 1
        if not _is_converted(one):
            # What a conversion would give is not known before it is done.
            totals["convert"] += 1
            estimated = True
            continue
        outcome = prepare(parts, one.plan, one.generation, one.source, Tally())
        if isinstance(outcome, Prepared):
            _add_cost(parts, one.document.id, outcome, totals, texts)
    for collection, plan in outdated.items():
        _add_kept(parts, collection, plan, totals, texts)
    totals["embed"] = sum(plan.embedding.count_unknown(list(distinct)) for plan, distinct in texts.values())
    rows = [
        {"root": one.plan.name, **path_fields(one.source.path), "action": action, "why": one.why}
        for action, group in (("rechunk", stale), ("reembed", rebuilt))
        for one in group
    ]
    return {"documents": rows, "totals": totals, **({"estimated": True} if estimated else {})}


def _add_cost(
    parts: Parts,
    document_id: int,
    prepared: "Prepared",
    totals: dict[str, int],
    texts: dict[int, tuple[RootPlan, dict[str, None]]],
) -> None:
    from ingestd.pipeline.group import lacking

    with parts.ledger.read() as transaction:
        change = swap(frozenset(prepared.ids), documents.points(transaction, document_id))
    totals["write"] += len(change.lacking)
    totals["overwrite"] += len(change.kept)
    totals["delete"] += len(change.dropped)
    distinct = texts.setdefault(id(prepared.plan.embedding), (prepared.plan, {}))[1]
    distinct.update(dict.fromkeys(lacking(parts, prepared).values()))


def _rebuilt(parts: Parts, collection: CollectionName, plan: RootPlan) -> list[Stale]:
    """Served documents of a collection that the new vector space lacks."""
    with parts.ledger.read() as transaction:
        live = generations.live(transaction, collection)
        target = _target(transaction, collection, plan)
        served = () if live is None else documents.in_generation(transaction, live.id)
        there = {row.source_id for row in documents.in_generation(transaction, target.id) if row.version}
        by_source = {row.source_id: row for row in served if row.version and row.source_id not in there}
        found = sources.by_ids(transaction, sorted(by_source))
    return [
        Stale(
            source=source,
            document=replace(by_source[source.id], id=_NOT_YET),
            generation=target,
            plan=parts.roots[source.root_id],
            why=f"the embedder or its settings changed (now {plan.embedding.stage.name})",
        )
        for source in found
        if source.state in ("done", "pending") and source.root_id in parts.roots
    ]


def _add_kept(
    parts: Parts,
    collection: CollectionName,
    plan: RootPlan,
    totals: dict[str, int],
    texts: dict[int, tuple[RootPlan, dict[str, None]]],
) -> None:
    from ingestd.pipeline import carry_over

    with parts.ledger.read() as transaction:
        live, target = generations.live(transaction, collection), _target(transaction, collection, plan)
    if live is not None:
        for one in carry_over.prepared(parts, live, target):
            totals["chunk"] += 1
            _add_cost(parts, _NOT_YET, one, totals, texts)


def _target(transaction: Transaction, collection: CollectionName, plan: RootPlan) -> GenerationRow:
    """Generation that a rebuild goes on with, or a stand-in for the one that it would make."""
    row = generations.building(transaction, collection)
    if row is not None and row.generation.embed_digest == plan.embedding.stage.digest:
        return row
    space = plan.space
    made = Generation(collection=collection, number=0, dimension=space.dimension, embed_digest=space.stage.digest)
    return GenerationRow(id=_NOT_YET, generation=made, embedder=space.embedder, state="building")


def _is_converted(one: Stale) -> bool:
    source = one.source
    if source.fingerprint is None or source.mime is None:
        return False
    return one.plan.conversions.is_cached(source.fingerprint, source.mime)


def _stale(
    transaction: Transaction,
    parts: Parts,
    root_ids: Collection[int],
    generation: GenerationRow,
    document: DocumentRow,
) -> Stale | None:
    found = sources.by_ids(transaction, [document.source_id])
    if not found or document.version == 0 or found[0].mime is None or found[0].state not in ("done", "pending"):
        return None
    source = found[0]
    plan = parts.roots.get(source.root_id)
    if plan is None or plan.row.id not in root_ids or source.mime is None:
        return None
    try:
        recipe = plan.recipe(source.mime)
    except UnsupportedType:
        return None
    why = _why(document, recipe)
    if not why or generation.generation.embed_digest != recipe.embed.digest:
        return None
    return Stale(source=source, document=document, generation=generation, plan=plan, why=why)


def _why(document: DocumentRow, recipe: Recipe) -> str:
    made = document.made
    reasons: list[str] = []
    if made.convert_digest != recipe.convert.digest:
        reasons.append(f"the converter or its settings changed (now {recipe.convert.name} {recipe.convert.version})")
    if made.chunk_digest != recipe.chunk.digest:
        reasons.append(f"the chunker or its settings changed (now {recipe.chunk.name} {recipe.chunk.version})")
    return ", ".join(reasons)


def _is_freed(parts: Parts, source: SourceRow | None, failure: quarantine.Failure) -> bool:
    if source is None or failure.stage not in ("convert", "chunk", "embed", "publish"):
        return False
    plan = parts.roots.get(source.root_id)
    if plan is None or source.mime is None:
        return False
    try:
        recipe = plan.recipe(source.mime)
    except UnsupportedType:
        return False
    if not failure.stage_digest:
        # Nothing read this type then.
        return failure.error == UnsupportedType.__name__
    return failure.stage_digest != (recipe.convert.digest if failure.stage == "convert" else recipe.digest)
