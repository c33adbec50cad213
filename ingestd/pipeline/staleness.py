"""Counts the served documents that another recipe made; looks at them only when the settings or the program changed."""

import json
from collections.abc import Collection

from ingestd.pipeline.parts import Parts
from ingestd.pipeline.reindex import stale_documents
from ingestd.state import facts


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
    count = len(stale_documents(parts, [root_id]))
    stated = json.dumps([plan.settings_digest, count])
    if stated != known:
        with parts.ledger.write("staleness") as transaction:
            facts.state(transaction, key, stated)
    return count
