"""Questions that change nothing: ``status`` and ``search``, for the owner and for one-shot commands alike."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestd.errors import ConfigurationError
from ingestd.model.paths import path_fields
from ingestd.model.point import SearchFilter
from ingestd.ports.store import Store
from ingestd.publish.search import merge, search
from ingestd.state import generations, report, roots
from ingestd.state.engine import Ledger, Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EmbedQuery = Callable[[str, str], "NDArray[np.float32]"]
"""Vector of a query, from the embedder's configuration (JSON) and the query."""


def status_document(ledger: Ledger, now_ns: int, daemon: Mapping[str, Any]) -> dict[str, Any]:
    """The contract's ``status`` document."""
    with ledger.read() as transaction:
        all_roots = report.roots(transaction)
        return {
            "daemon": dict(daemon),
            "roots": all_roots,
            "queues": report.queues(transaction, now_ns),
            "generations": report.all_generations(transaction),
            "quarantine": report.quarantined(transaction),
            "deferred": report.deferred(transaction, now_ns),
            "held": report.held_count(transaction),
            "recipe": {
                str(row.generation.collection): {"embed": row.generation.embed_digest, "embedder": row.embedder}
                for row in generations.all_generations(transaction)
                if row.state == "live"
            },
        }


def empty_status() -> dict[str, Any]:
    """The ``status`` document of a state that does not exist yet."""
    return {
        "daemon": {"running": False, "pid": None, "since": None},
        "roots": [],
        "queues": {},
        "generations": [],
        "quarantine": [],
        "deferred": [],
        "held": 0,
        "recipe": {},
    }


def search_document(
    ledger: Ledger,
    store: Store,
    embed: EmbedQuery,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """The contract's ``search`` document.

    Parameters
    ----------
    arguments
        ``query``, ``limit``, and ``root``, ``path``, ``tags``, each of which may be empty.

    Raises
    ------
    ConfigurationError
        When the query is blank, or no such root is known.
    StoreUnavailable, EmbedderUnavailable
        When they do not answer.
    """
    query, limit = str(arguments["query"]), int(arguments["limit"])
    if not query.strip():
        raise ConfigurationError("the query is blank: say what to look for")
    with ledger.read() as transaction:
        narrowed = _narrowed(transaction, arguments)
        rows = [row for row in generations.all_generations(transaction) if row.state == "live"]
        if narrowed.root is not None:
            wanted = {row.collection for row in roots.all_roots(transaction) if row.name == narrowed.root}
            rows = [row for row in rows if row.generation.collection in wanted]
    found = [search(ledger, store, row, embed(row.embedder, query), limit, narrowed) for row in rows]
    return {"query": query, "hits": merge(found, limit)}


def _narrowed(transaction: Transaction, arguments: Mapping[str, Any]) -> SearchFilter:
    root, path = arguments.get("root") or None, arguments.get("path") or None
    known = roots.all_roots(transaction)
    if root is not None and root not in {row.name for row in known}:
        names = ", ".join(row.name for row in known) or "none"
        raise ConfigurationError(f"no root is called {root!r}; known: {names}")
    below = os.fsencode(path or "")
    if path is not None and Path(path).is_absolute():
        encoded = os.path.abspath(below)  # noqa: PTH100  links are not followed
        for row in known:
            if encoded == row.path or encoded.startswith(row.path.rstrip(b"/") + b"/"):
                if root not in (None, row.name):
                    raise ConfigurationError(f"{path} lies below the root {row.name!r}, not below {root!r}")
                root = row.name
                below = encoded.removeprefix(row.path.rstrip(b"/")).lstrip(b"/")
                break
        else:
            raise ConfigurationError(f"{path} lies below no root: `ingestd status` lists them")
    return SearchFilter(
        root=root, path_prefix=path_fields(below)["path"] or None, tags=tuple(arguments.get("tags") or ())
    )
