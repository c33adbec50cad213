"""Builds a collection anew for another vector space, beside the one that readers see."""

from collections.abc import Collection
from typing import Any

from ingestd.model.identity import CollectionName, Digest
from ingestd.model.paths import path_fields
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.pipeline.tally import Tally
from ingestd.state import documents, generations, outcomes, sources
from ingestd.state.engine import Transaction
from ingestd.state.generations import GenerationRow


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
    """Start the new generation, or go on with one that is being built; every source that it lacks is due."""
    with parts.ledger.read() as transaction:
        building = generations.building(transaction, collection)
    if building is not None and building.generation.embed_digest != plan.embedding.stage.digest:
        parts.collections.drop(building)
        building = None
    if building is None:
        building = parts.collections.build(collection, plan.space, parts.clock.wall_ns())
    with parts.ledger.write("rebuild") as transaction:
        outcomes.mark_pending(transaction, _lacking(transaction, parts, building, "done", "quarantined"))


def go_on(parts: Parts, tally: Tally) -> None:
    """Go on with what an earlier run began to build; give it up where the settings ask for what readers see.

    A run may have been killed before its sources were marked, and the settings may have been restored since: then what
    was only brought into the new generation is due for the one that stays.
    """
    for row in _being_built(parts):
        with parts.ledger.read() as transaction:
            live = generations.live(transaction, row.generation.collection)
            waiting = _lacking(transaction, parts, row, "done")
        wanted = _wanted(parts, row.generation.collection)
        if row.generation.embed_digest in wanted:
            if waiting:
                with parts.ledger.write("rebuild") as transaction:
                    outcomes.mark_pending(transaction, waiting)
        elif live is not None and live.generation.embed_digest in wanted:
            _give_up(parts, live, row, tally)


def _give_up(parts: Parts, live: GenerationRow, building: GenerationRow, tally: Tally) -> None:
    from ingestd.pipeline.carry_over import carry_over

    # What was only brought into the new generation, and whose file fails by now or is held, has no other version.
    if not carry_over(parts, building, live, tally):
        return
    # The sources first: killed in between, they are looked at once more, and what is served already is left alone.
    with parts.ledger.write("rebuild") as transaction:
        served = _served(transaction, building)
        done = (
            source.id
            for id_, plan in parts.roots.items()
            if plan.collection == building.generation.collection
            for source in sources.in_state(transaction, "done", root_id=id_)
        )
        outcomes.mark_pending(transaction, [id_ for id_ in done if id_ in served])
    parts.collections.drop(building)


def finish_all(parts: Parts, tally: Tally) -> None:
    """Finish whatever was being built and lacks nothing any more."""
    for row in _being_built(parts):
        if row.generation.embed_digest in _wanted(parts, row.generation.collection):
            _finish(parts, row.generation.collection, tally)


def _being_built(parts: Parts) -> list[GenerationRow]:
    with parts.ledger.read() as transaction:
        return [row for row in generations.all_generations(transaction) if row.state == "building"]


def _wanted(parts: Parts, collection: CollectionName) -> set[Digest]:
    return {plan.embedding.stage.digest for plan in parts.roots.values() if plan.collection == collection}


def _finish(parts: Parts, collection: CollectionName, tally: Tally) -> None:
    """Switch readers to the new generation when it lacks nothing and nothing is pending; the old one is dropped.

    Versions that are served without their file (it fails now, or its removal is held) go along, where their conversions
    are still cached.
    """
    with parts.ledger.read() as transaction:
        live, building = generations.live(transaction, collection), generations.building(transaction, collection)
        if building is None or _lacking(transaction, parts, building, "done", "pending"):
            return
    if live is not None:
        # Here, so that a pass that finds nothing to do is over before an engine would be imported.
        from ingestd.pipeline.carry_over import carry_over

        if not carry_over(parts, live, building, tally):
            return
    old = parts.collections.switch(collection)
    if old is not None:
        parts.collections.drop(old)


def left_behind(parts: Parts, collections: Collection[CollectionName]) -> list[dict[str, Any]]:
    """Documents that a rebuild would lose: served without their file, and their conversions are not kept."""
    from ingestd.pipeline import carry_over

    found: list[dict[str, Any]] = []
    for collection in collections:
        with parts.ledger.read() as transaction:
            live, building = generations.live(transaction, collection), generations.building(transaction, collection)
        if live is not None:
            lost = carry_over.left_behind(parts, live, building)
            found.extend({"root": name, **path_fields(path)} for name, path in lost)
    return found


def _served(transaction: Transaction, generation: GenerationRow) -> set[int]:
    return {row.source_id for row in documents.in_generation(transaction, generation.id) if row.version}


def _lacking(transaction: Transaction, parts: Parts, building: GenerationRow, *states: str) -> list[int]:
    """Sources in these states that the generation does not serve; all those that are pending."""
    served = _served(transaction, building)
    return [
        source.id
        for id_, plan in parts.roots.items()
        if plan.collection == building.generation.collection
        for source in sources.in_state(transaction, *states, root_id=id_)
        if source.state == "pending" or source.id not in served
    ]
