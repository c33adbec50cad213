from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestd.state.engine import Ledger
from ingestd.state.schema import migrate
from tests.unit.pipeline.site import Site


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of an empty ledger: Alembic takes most of a second to make one."""
    file = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    ledger = Ledger(file)
    migrate(ledger)
    ledger.close()
    return file.read_bytes()


@pytest.fixture
def site(tmp_path: Path, empty_ledger: bytes) -> Iterator[Site]:
    file = tmp_path / "state" / "ledger.sqlite"
    file.parent.mkdir()
    file.write_bytes(empty_ledger)
    ledger = Ledger(file)
    made = Site(tmp_path, ledger)
    yield made
    made.close()
    ledger.close()
