"""The changes of an operation, for `undo`; hashes of contents that were forgotten for good."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("operation") as table:
        table.add_column(sa.Column("what", sa.String(length=16), server_default="", nullable=False))
        table.add_column(sa.Column("did", sa.JSON(), server_default="[]", nullable=False))
    op.create_index("revision_by_until", "revision", ["until"], unique=False)
    op.create_table(
        "forgotten",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("hash"),
    )
