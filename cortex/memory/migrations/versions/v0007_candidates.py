"""Candidates for notes, and the identity of a followed project's git folder."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "candidate",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("project", sa.String(64), server_default="", nullable=False),
        sa.Column("kind", sa.String(40), server_default="", nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.String(12), server_default="", nullable=False),
        sa.Column("agent", sa.String(128), server_default="", nullable=False),
        sa.Column("session", sa.String(128), server_default="", nullable=False),
        sa.Column("origin", sa.JSON(), server_default="{}", nullable=False),
        sa.Column("note", _NUMBER, sa.ForeignKey("note.number", ondelete="CASCADE")),
        sa.Column("exchange", _NUMBER, sa.ForeignKey("exchange.number", ondelete="CASCADE")),
        sa.Column("said_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("candidate_by_hash", "candidate", ["hash"])
    op.create_index("candidate_by_project", "candidate", ["project", "state"])
    op.add_column("followed", sa.Column("git", sa.String(80), server_default="", nullable=False))
