"""Single facts about the state as a whole."""

from ingestd.state.engine import Transaction


def read(transaction: Transaction, key: str) -> str | None:
    """Value of the fact, if it was ever stated."""
    value = transaction.exec_driver_sql("SELECT value FROM fact WHERE key = :key", {"key": key}).scalar()
    return None if value is None else str(value)


def state(transaction: Transaction, key: str, value: str) -> None:
    """State the fact, in place of an earlier value."""
    transaction.exec_driver_sql(
        "INSERT INTO fact(key, value) VALUES(:key, :value) ON CONFLICT(key) DO UPDATE SET value = :value",
        {"key": key, "value": value},
    )


def stale_key(root: str) -> str:
    """Key of how many documents of the root another recipe made: JSON of the settings' digest with the number."""
    return f"stale:{root}"
