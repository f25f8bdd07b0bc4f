"""Projects that share the notes of another project."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "joined",
        sa.Column("project", sa.String(64), primary_key=True),
        sa.Column("into", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False, server_default="0"),
    )
