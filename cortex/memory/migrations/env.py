"""What Alembic runs for each command: one connection, one transaction."""

from __future__ import annotations

from alembic import context

from cortex.memory.store.tables import METADATA

with context.config.attributes["connecting"]() as connection:
    context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
