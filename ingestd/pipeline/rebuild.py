"""Builds a collection anew for another vector space, beside the one that readers see."""

from collections.abc import Collection

from ingestd.model.identity import CollectionName
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.publish.collections import Space
from ingestd.state import generations, sources


def outdated(parts: Parts, root_ids: Collection[int]) -> dict[CollectionName, RootPlan]:
    """Collections whose live generation holds another vector space than the settings ask for."""
    found: dict[CollectionName, RootPlan] = {}
    with parts.ledger.read() as transaction:
        for id_ in root_ids:
            plan = parts.roots[id_]
            live = generations.live(transaction, plan.collection)
            if live is not None and live.generation.embed_digest != plan.embedding.stage.digest:
                found[plan.collection] = plan
    return found


def begin(parts: Parts, collection: CollectionName, plan: RootPlan) -> None:
    """Start the new generation, or go on with one that is being built; every source of the collection is due."""
    with parts.ledger.read() as transaction:
        building = generations.building(transaction, collection)
    digest = plan.embedding.stage.digest
    if building is not None and building.generation.embed_digest == digest:
        return
    if building is not None:
        parts.collections.drop(building)
    space = Space(stage=plan.embedding.stage, dimension=plan.embedding.dimension, embedder=plan.engines.embedder)
    parts.collections.build(collection, space, parts.clock.wall_ns())
    with parts.ledger.write("rebuild") as transaction:
        for id_, one in parts.roots.items():
            if one.collection == collection:
                found = sources.in_state(transaction, "done", "quarantined", root_id=id_)
                sources.mark_pending(transaction, [source.id for source in found])


def finish(parts: Parts, collection: CollectionName) -> bool:
    """Switch readers to the new generation when nothing of the collection is pending; the old one is dropped."""
    with parts.ledger.read() as transaction:
        pending = any(
            sources.in_state(transaction, "pending", root_id=id_)
            for id_, plan in parts.roots.items()
            if plan.collection == collection
        )
    if pending:
        return False
    old = parts.collections.switch(collection)
    if old is not None:
        parts.collections.drop(old)
    return True
