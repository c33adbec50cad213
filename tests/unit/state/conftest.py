from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestd.state.engine import Ledger
from ingestd.state.schema import migrate


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of an empty ledger: Alembic takes most of a second to make one."""
    file = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    ledger = Ledger(file)
    migrate(ledger)
    ledger.close()
    return file.read_bytes()


@pytest.fixture
def ledger(tmp_path: Path, empty_ledger: bytes) -> Iterator[Ledger]:
    file = tmp_path / "ledger.sqlite"
    file.write_bytes(empty_ledger)
    opened = Ledger(file)
    yield opened
    opened.close()
