"""Notes, their labels and files, edges, revisions, operations, changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "change",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("what", sa.String(length=8), nullable=False),
        sa.Column("of", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "note",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), server_default="", nullable=False),
        sa.Column("obs_type", sa.String(length=40), server_default="", nullable=False),
        sa.Column("memory_type", sa.String(length=40), server_default="", nullable=False),
        sa.Column("title", sa.String(length=256), nullable=False),
        sa.Column("subtitle", sa.String(length=256), server_default="", nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("project", sa.String(length=64), server_default="", nullable=False),
        sa.Column("scope", sa.String(length=8), server_default="", nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("relevance", sa.Float(), nullable=False),
        sa.Column("state", sa.String(length=12), server_default="", nullable=False),
        sa.Column("superseded_by", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("occurred_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("valid_until", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("use_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("shown_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("agent", sa.String(length=128), server_default="", nullable=False),
        sa.Column("session", sa.String(length=128), server_default="", nullable=False),
        sa.Column("channel", sa.String(length=16), server_default="", nullable=False),
        sa.Column("trust", sa.String(length=8), server_default="", nullable=False),
        sa.Column("same", sa.String(length=32), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("note_by_project", "note", ["project", "state"], unique=False)
    op.create_index("note_by_same", "note", ["same"], unique=False)
    op.create_table(
        "operation",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.String(length=64), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("operation_by_time", "operation", ["created_at"], unique=False)
    op.create_table(
        "edge",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("target", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("relation", sa.String(length=40), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("detection", sa.String(length=40), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["source"], ["note.number"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target"], ["note.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("source", "target", "relation"),
        sqlite_autoincrement=True,
    )
    op.create_index("edge_by_target", "edge", ["target"], unique=False)
    op.create_table(
        "label",
        sa.Column("note", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("label", sa.String(length=64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["note"], ["note.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("note", "label"),
    )
    op.create_index("label_by_label", "label", ["label"], unique=False)
    op.create_table(
        "note_file",
        sa.Column("note", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["note"], ["note.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("note", "path"),
    )
    op.create_index("note_file_by_path", "note_file", ["path"], unique=False)
    op.create_table(
        "revision",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("note", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("held", sa.JSON(), nullable=False),
        sa.Column("until", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["note"], ["note.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number"),
        sqlite_autoincrement=True,
    )
    op.create_index("revision_by_note", "revision", ["note"], unique=False)
