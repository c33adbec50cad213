"""The files of a state directory, and to whom they belong."""

import sqlite3
from pathlib import Path

import pytest

from ingestd.daemon.state import Places, belonging_to, check_structure, is_readable, open_ledger, state_id
from ingestd.errors import ConfigurationError, StateUnusable
from ingestd.model.identity import Instance
from ingestd.state.engine import Ledger

INSTANCE = Instance("one")
CONFIGURATION = Path("/etc/ingestd/config.toml")


@pytest.fixture
def places(tmp_path: Path, empty_ledger: bytes) -> Places:
    made = Places(directory=tmp_path / "state")
    made.directory.mkdir()
    made.ledger.write_bytes(empty_ledger)
    return made


def opened(places: Places, instance: Instance = INSTANCE, configuration: Path | None = CONFIGURATION) -> None:
    ledger = open_ledger(places, instance=instance, configuration=configuration)
    check_structure(ledger)
    ledger.close()


def test_private_copies_of_a_killed_run_are_removed(places: Places) -> None:
    places.staging.mkdir()
    (places.staging / "left.pdf").write_bytes(b"left")
    opened(places)
    assert list(places.staging.iterdir()) == []


def test_a_state_belongs_to_the_configuration_and_instance_that_used_it_first(places: Places) -> None:
    opened(places)
    opened(places)
    with pytest.raises(ConfigurationError, match=r"belongs to the configuration '/etc/ingestd/config\.toml', not to"):
        opened(places, configuration=None)
    with pytest.raises(ConfigurationError, match="belongs to the instance 'one', not to 'other'"):
        opened(places, Instance("other"))


def test_the_id_of_a_state_stays_when_the_ledger_is_lost(places: Places) -> None:
    first = state_id(places)
    places.ledger.unlink()
    assert len(first) == 16
    assert state_id(places) == first


def test_a_ledger_is_read_without_its_owner_only_by_those_it_belongs_to(places: Places) -> None:
    opened(places)
    ledger = Ledger(places.ledger)
    mine = belonging_to(configuration=CONFIGURATION, instance=INSTANCE)
    assert is_readable(ledger, places.directory, mine)
    with pytest.raises(ConfigurationError, match="belongs to the configuration"):
        is_readable(ledger, places.directory, belonging_to(configuration=None))
    ledger.close()


def test_a_ledger_that_is_being_made_holds_nothing_to_read(places: Places) -> None:
    places.ledger.unlink()
    sqlite3.connect(places.ledger).close()
    ledger = Ledger(places.ledger)
    assert not is_readable(ledger, places.directory, {})
    ledger.close()


def test_a_ledger_of_another_version_is_not_taken_for_an_empty_one(places: Places) -> None:
    with sqlite3.connect(places.ledger) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.close()
    ledger = Ledger(places.ledger)
    with pytest.raises(StateUnusable, match="another version of ingestd: `ingestd sync`"):
        is_readable(ledger, places.directory, {})
    ledger.close()


def test_a_damaged_ledger_is_refused(places: Places) -> None:
    content = bytearray(places.ledger.read_bytes())
    content[0:100] = bytes(100)
    places.ledger.write_bytes(content)
    with pytest.raises(StateUnusable, match="damaged"):
        opened(places)
