"""The share of an edge's weight that is left after fading."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("edge", sa.Column("faded", sa.Float(), server_default="1", nullable=False))
