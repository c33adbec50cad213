"""Counts the served documents that another recipe made; looks at them only when the settings or the program changed."""

import json
from collections.abc import Collection
from contextlib import suppress

from ingestd.errors import UnsupportedType
from ingestd.pipeline.parts import Parts, RootPlan
from ingestd.publish.collections import NeedsReindex
from ingestd.state import facts, recipes
from ingestd.state.recipes import Served


def count_stale(parts: Parts, root_ids: Collection[int]) -> int:
    """How many documents of these roots a reindex would make again; stated for ``status`` as well."""
    return sum(_of_root(parts, id_) for id_ in root_ids)


def _of_root(parts: Parts, root_id: int) -> int:
    plan = parts.roots[root_id]
    key = facts.stale_key(plan.name)
    with parts.ledger.read() as transaction:
        known = facts.read(transaction, key)
    if known == json.dumps([plan.settings_digest, 0]):
        # Whatever was made since was made by the recipe in force.
        return 0
    with parts.ledger.read() as transaction:
        served = recipes.served(transaction, root_id)
    with suppress(NeedsReindex):
        # The settings changed: whether they ask for another vector space is stated now, whatever is due.
        parts.collections.serving(plan.collection, plan.space)
    count = sum(one.documents for one in served if _is_stale(plan, one))
    stated = json.dumps([plan.settings_digest, count])
    if stated != known:
        with parts.ledger.write("staleness") as transaction:
            facts.state(transaction, key, stated)
    return count


def _is_stale(plan: RootPlan, made: Served) -> bool:
    """Whether :func:`ingestd.pipeline.reindex.stale_documents` lists these documents."""
    try:
        recipe = plan.recipe(made.mime)
    except UnsupportedType:
        return False
    same_space = made.embed_digest == recipe.embed.digest
    return same_space and (made.convert_digest, made.chunk_digest) != (recipe.convert.digest, recipe.chunk.digest)
