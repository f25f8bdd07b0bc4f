"""The topic of a note, of which one version is active."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("note", sa.Column("topic", sa.String(64), server_default="", nullable=False))
    op.create_index("note_by_topic", "note", ["topic"])
