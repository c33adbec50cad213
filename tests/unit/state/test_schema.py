import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from ingestd.errors import StateUnusable
from ingestd.resources import shipped
from ingestd.state.engine import Ledger
from ingestd.state.schema import HEAD, migrate, quick_check, revision

MIGRATE = """
import sys
from pathlib import Path
from ingestd import failpoints
from ingestd.state.engine import Ledger
from ingestd.state.schema import migrate
failpoints.arm(sys.argv[2])
migrate(Ledger(Path(sys.argv[1])))
"""


def tables(file: Path) -> dict[str, str]:
    with closing(sqlite3.connect(file)) as connection:
        return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name"))


def migrated_by_a_child(file: Path, failpoint: str = "") -> int:
    return subprocess.run([sys.executable, "-c", MIGRATE, file, failpoint], check=False, timeout=60).returncode


def test_head_is_alembics_head():
    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_every_table_is_strict(ledger: Ledger):
    made = tables(ledger.file)
    loose = [name for name, sql in made.items() if "STRICT" not in sql and not name.startswith("sqlite_")]
    assert loose == ["alembic_version"]
    assert {"root", "source", "document", "point", "intent", "outbox", "quarantine"} <= made.keys()


def test_an_up_to_date_ledger_is_left_alone_without_alembic(ledger: Ledger):
    probe = (
        "import sys; from pathlib import Path; from ingestd.state.engine import Ledger; "
        "from ingestd.state.schema import migrate; migrate(Ledger(Path(sys.argv[1]))); "
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe, ledger.file], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("failpoint", ["ledger.migrate.before", "ledger.migrate.after", "ledger.revision.after"])
def test_a_migration_killed_midway_is_done_at_the_next_start(tmp_path: Path, failpoint: str):
    file = tmp_path / "ledger.sqlite"
    assert migrated_by_a_child(file, failpoint) == -signal.SIGKILL
    if failpoint == "ledger.migrate.before":
        assert tables(file) == {}
    ledger = Ledger(file)
    migrate(ledger)
    assert revision(ledger) == HEAD
    quick_check(ledger)
    assert "source" in tables(file)
    ledger.close()


def test_a_ledger_of_a_newer_program_is_refused(ledger: Ledger):
    with closing(sqlite3.connect(ledger.file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(StateUnusable, match=r"revision '9999', unknown to this version.*install the version"):
        migrate(ledger)
    assert revision(ledger) == "9999"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    file = tmp_path / "ledger.sqlite"
    file.write_bytes(b"no database at all " * 500)
    ledger = Ledger(file)
    with pytest.raises(StateUnusable, match="move it away"):
        migrate(ledger)
    ledger.close()
    assert file.read_bytes().startswith(b"no database at all")


def test_a_database_of_another_program_is_refused_and_not_marked(tmp_path: Path):
    file = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA application_id = 77")
        connection.execute("CREATE TABLE theirs(x)")
        connection.commit()
    ledger = Ledger(file)
    with pytest.raises(StateUnusable, match=r"another program.*--state-dir"):
        migrate(ledger)
    ledger.close()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (77,)
    assert list(tables(file)) == ["theirs"]


def test_a_truncated_ledger_is_found_by_the_quick_check(ledger: Ledger):
    ledger.close()
    whole = ledger.file.read_bytes()
    ledger.file.write_bytes(whole[: len(whole) // 2])
    damaged = Ledger(ledger.file)
    with pytest.raises(StateUnusable, match="damaged"):
        quick_check(damaged)
    damaged.close()


def test_damaged_pages_are_found_by_the_quick_check(ledger: Ledger):
    ledger.close()
    whole = bytearray(ledger.file.read_bytes())
    whole[8192:16384] = b"\xa5" * 8192
    ledger.file.write_bytes(whole)
    damaged = Ledger(ledger.file)
    with pytest.raises(StateUnusable, match="damaged"):
        quick_check(damaged)
    damaged.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes wherever it wants")
def test_a_ledger_that_may_not_be_written_is_refused(ledger: Ledger):
    ledger.close()
    ledger.file.chmod(0o400)
    ledger.file.parent.chmod(0o500)
    try:
        with pytest.raises(StateUnusable, match="permissions"):
            migrate(Ledger(ledger.file))
    finally:
        ledger.file.parent.chmod(0o700)


def test_a_ledger_whose_folder_is_missing_is_refused(tmp_path: Path):
    with pytest.raises(StateUnusable, match="cannot be opened"):
        migrate(Ledger(tmp_path / "no" / "ledger.sqlite"))
