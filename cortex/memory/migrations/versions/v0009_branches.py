"""The branch on which a note was made; notes of earlier versions count as the main branch's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("note", sa.Column("branch", sa.String(256), server_default="", nullable=False))
