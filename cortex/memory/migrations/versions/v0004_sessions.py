"""Sessions and their exchanges, patterns, queries, feedback, upkeep; more columns of a note."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _moment(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def _text(name: str, length: int = 0) -> sa.Column[str]:
    return sa.Column(name, sa.String(length) if length else sa.Text(), server_default="", nullable=False)


def _mapping(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(), server_default="{}", nullable=False)


def upgrade() -> None:
    for column in (
        _moment("valid_from"),
        _count("feedback"),
        _count("prompt_number"),
        _mapping("spoken"),
        _text("git_commit", 64),
    ):
        op.add_column("note", column)
    op.create_index("note_by_type", "note", ["obs_type", "kind"])
    for table, columns in (
        ("note_file", (_text("use", 8), _moment("mtime"))),
        ("edge", (_text("reason", 256), _moment("valid_until"))),
    ):
        for each in columns:
            op.add_column(table, each)
    _sessions()
    _patterns()
    _log_tables()


def _sessions() -> None:
    op.create_table(
        "session",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        _text("kind", 20),
        _text("workstation", 16),
        _text("project", 64),
        _text("source_id", 128),
        _text("project_path", 1024),
        _text("branch", 256),
        _text("file", 1024),
        _moment("file_offset"),
        _moment("file_size"),
        _text("file_tail", 64),
        _mapping("counts"),
        _count("exchange_count"),
        _moment("started_at"),
        _moment("last_at"),
        sa.UniqueConstraint("workstation", "project", "source_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("session_by_time", "session", ["project", "last_at"])
    op.create_table(
        "exchange",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("session", _NUMBER, sa.ForeignKey("session.number", ondelete="CASCADE"), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        _text("user_text"),
        _text("assistant_text"),
        sa.Column("tools", sa.JSON(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        _text("branch", 256),
        _moment("at"),
        sa.UniqueConstraint("session", "place"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "followed",
        sa.Column("project", sa.String(64), primary_key=True),
        _text("path", 1024),
        _moment("created_at"),
    )


def _patterns() -> None:
    op.create_table(
        "pattern",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(256), nullable=False),
        _text("kind", 40),
        _text("description"),
        _text("recommendation"),
        sa.Column("signature", sa.JSON(), nullable=False),
        _text("status", 12),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("projects", sa.JSON(), nullable=False),
        _moment("last_seen"),
        _moment("created_at"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "pattern_note",
        sa.Column("pattern", _NUMBER, sa.ForeignKey("pattern.number", ondelete="CASCADE"), primary_key=True),
        sa.Column("note", _NUMBER, sa.ForeignKey("note.number", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("pattern_note_by_note", "pattern_note", ["note"])


def _log_tables() -> None:
    op.create_table(
        "query_log",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        _text("query"),
        _text("tool", 64),
        _text("project", 64),
        _moment("at"),
        sa.Column("results", sa.Integer(), nullable=False),
        sa.Column("took_ms", sa.Float(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("query_log_by_time", "query_log", ["at"])
    op.create_table(
        "feedback",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("note", _NUMBER, sa.ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        _moment("at"),
        sqlite_autoincrement=True,
    )
    op.create_index("feedback_by_note", "feedback", ["note"])
    op.create_table(
        "upkeep",
        sa.Column("name", sa.String(40), primary_key=True),
        _moment("cursor"),
        _mapping("state"),
        _moment("last_run"),
        sa.Column("last_duration_ms", sa.Float(), server_default="0", nullable=False),
    )
