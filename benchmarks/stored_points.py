"""What ingestd's embedded store holds, read without the program's own bookkeeping."""

import json
import sys
from pathlib import Path

from ingestd.model.identity import CollectionName
from ingestd.model.point import Generation
from ingestd.ports.store import Store
from ingestd.settings import Settings
from ingestd.wiring.stores import store


def print_all(state: str) -> None:
    """Print path and body of every point as one JSON array."""
    opened: Store = store(Settings(), Path(state) / "store", in_process=True)
    found: list[tuple[str, str]] = []
    for name in opened.generations():
        record = json.loads((Path(state) / "store" / name / "ingestd.json").read_bytes())
        collection, _, number = name.rpartition(".g")
        generation = Generation(
            collection=CollectionName(collection),
            number=int(number),
            dimension=record["dimension"],
            embed_digest=record["embed_digest"],
        )
        found += [
            (point.payload["path"], point.payload["body"]) for point in opened.scroll(generation, ("path", "body"))
        ]
    opened.close()
    json.dump(found, sys.stdout)
