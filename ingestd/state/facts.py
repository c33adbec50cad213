"""Single facts about the state as a whole."""

from ingestd.state.engine import Transaction, driver


def read(transaction: Transaction, key: str) -> str | None:
    """Value of the fact, if it was ever stated."""
    row = driver(transaction).execute("SELECT value FROM fact WHERE key = :key", {"key": key}).fetchone()
    return None if row is None else str(row[0])


def state(transaction: Transaction, key: str, value: str) -> None:
    """State the fact, in place of an earlier value."""
    transaction.exec_driver_sql(
        "INSERT INTO fact(key, value) VALUES(:key, :value) ON CONFLICT(key) DO UPDATE SET value = :value",
        {"key": key, "value": value},
    )


def ignored_key(root: str) -> str:
    """Key of how many names the last whole scan of the root left out: JSON of numbers by reason."""
    return f"ignored:{root}"


def stale_key(root: str) -> str:
    """Key of how many documents of the root another recipe made: JSON of the settings' digest with the number."""
    return f"stale:{root}"
