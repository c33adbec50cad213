from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingestd.model.identity import Instance
from ingestd.model.point import Deletion
from ingestd.ports.store import Store
from ingestd.testing.store import GENERATION, StoreContract
from ingestd.testing.store_opening import OURS
from ingestd_adapters.edge_store import edge


class EdgeContract(StoreContract):
    """One directory for all tests that leave only points behind: making it costs the engine 0.4 s."""

    common: Path
    emptied_for: Path | None = None

    @pytest.fixture(autouse=True)
    def _common(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        if "common" not in vars(type(self)):
            type(self).common = tmp_path_factory.mktemp("common")

    @contextmanager
    def opened(self, place: Path, instance: Instance = OURS, *, prepared: bool = True) -> Generator[Store]:
        with super().opened(self.common if prepared else place, instance, prepared=prepared) as store:
            if prepared and place != self.emptied_for:
                self.emptied_for = place
                found = [point.id for point in store.scroll(GENERATION, ())]
                store.delete(GENERATION, [Deletion(id=point, below_version=1_000) for point in found])
            yield store


class TestEdgeInProcess(EdgeContract):
    def open_store(self, place: Path, instance: Instance) -> Store:
        return edge(instance, {"directory": str(place / "store"), "in_process": True, "lock_wait_seconds": 0})


class TestEdgeProcess(EdgeContract):
    def open_store(self, place: Path, instance: Instance) -> Store:
        return edge(instance, {"directory": str(place / "store")})
