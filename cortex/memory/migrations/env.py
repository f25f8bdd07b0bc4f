"""What Alembic runs for each command: one connection, one transaction."""

from __future__ import annotations

from pathlib import Path

from alembic import context
from sqlalchemy.engine import make_url

from cortex.memory.database import connect
from cortex.memory.tables import METADATA

url = make_url(context.config.get_main_option("sqlalchemy.url") or "")
with connect(Path(url.database or "")).connect() as connection:
    context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
