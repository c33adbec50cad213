"""Alembic's environment: runs the migrations on the connection that the ledger hands over."""

from alembic import context

_connection = context.config.attributes.get("connection")
if _connection is None:
    raise SystemExit("migrations run through ingestd itself: start it, or call ingestd.state.migrate")
context.configure(connection=_connection, target_metadata=None, transactional_ddl=True, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
