"""The ledger: SQLite through SQLAlchemy."""
