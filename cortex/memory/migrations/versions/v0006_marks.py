"""The random mark by which an index recognises the log of changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("change", sa.Column("mark", sa.BigInteger(), server_default="0", nullable=False))
