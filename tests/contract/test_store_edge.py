from pathlib import Path

from ingestd.model.identity import Instance
from ingestd.testing.store import StoreContract
from ingestd_adapters.edge_shard import EdgeShards


class TestEdgeShards(StoreContract):
    def open_store(self, place: Path, instance: Instance) -> EdgeShards:
        return EdgeShards(place / "store", instance, lock_wait_seconds=0.1)
