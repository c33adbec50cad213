"""Brings the ledger's tables up to date."""

import sqlite3

from sqlalchemy import exc

from ingestd.errors import StateUnusable
from ingestd.resources import shipped
from ingestd.state.engine import Ledger

HEAD = "0001"
"""Newest revision; compared here so that an up-to-date ledger starts without importing Alembic (0.7 s)."""


def migrate(ledger: Ledger) -> None:
    """Run the migrations that the ledger lacks, each in its own transaction: killed midway, the next start goes on.

    Raises
    ------
    StateUnusable
        When the ledger was written by a newer program, or is damaged.
    """
    found = revision(ledger)
    if found == HEAD:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(shipped("migrations")))
    with ledger.write("migrate") as transaction:
        config.attributes["connection"] = transaction
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StateUnusable(
                f"the ledger {ledger.file} is at revision {found!r}, unknown to this version of ingestd ({HEAD} is its "
                "newest): install the version that wrote it, or a newer one"
            ) from error


def is_current(ledger: Ledger) -> bool:
    """Whether the tables are those of this program; reads only."""
    try:
        with ledger.read() as transaction:
            return transaction.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == HEAD
    except exc.OperationalError:
        return False


def is_empty(ledger: Ledger) -> bool:
    """Whether the file holds no tables yet: its owner is just being started; reads only."""
    with ledger.read() as transaction:
        return transaction.exec_driver_sql("SELECT 1 FROM sqlite_schema LIMIT 1").first() is None


def revision(ledger: Ledger) -> str | None:
    """Revision of the ledger's tables; ``None`` for an empty file."""
    with ledger.write("revision") as transaction:
        try:
            return transaction.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        except exc.OperationalError as error:
            if isinstance(error.orig, sqlite3.OperationalError) and "no such table" in str(error.orig):
                return None
            raise


def quick_check(ledger: Ledger) -> None:
    """Have SQLite check the file's structure.

    Raises
    ------
    StateUnusable
        When it finds damage.
    """
    with ledger.read() as transaction:
        findings = transaction.exec_driver_sql("PRAGMA quick_check(3)").scalars().all()
    if findings != ["ok"]:
        raise StateUnusable(
            f"the ledger {ledger.file} is damaged ({'; '.join(map(str, findings))}): move it away and start again; "
            "ids, vectors and conversions are found again from the store and the caches"
        )
