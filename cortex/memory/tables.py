"""The tables of the store, for any database that SQLAlchemy speaks to. No queries.

Moments are UTC milliseconds, 0 for none; texts that may be missing are "".
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()
#: the version of the store that this code reads and writes: the newest in migrations/versions
VERSION = "0006"

#: SQLite counts up only in a column of the type INTEGER
_NUMBER = BigInteger().with_variant(Integer, "sqlite")


def _moment(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default="0")


def _text(name: str, length: int = 0) -> Column[str]:
    return Column(name, String(length) if length else Text, nullable=False, server_default="")


NOTE = Table(
    "note",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", String(36), nullable=False, unique=True),
    _text("kind", 40),
    _text("obs_type", 40),
    _text("memory_type", 40),
    Column("title", String(256), nullable=False),
    _text("subtitle", 256),
    _text("body"),
    Column("facts", JSON, nullable=False),
    Column("metadata", JSON, nullable=False),
    _text("project", 64),
    _text("scope", 8),
    Column("importance", Float, nullable=False),
    Column("relevance", Float, nullable=False),
    _text("state", 12),
    Column("superseded_by", BigInteger, nullable=False, server_default="0"),
    _moment("occurred_at"),
    _moment("valid_from"),
    _moment("valid_until"),
    _moment("created_at"),
    _moment("updated_at"),
    _moment("used_at"),
    Column("use_count", Integer, nullable=False, server_default="0"),
    Column("shown_count", Integer, nullable=False, server_default="0"),
    _text("agent", 128),
    _text("session", 128),
    _text("channel", 16),
    _text("trust", 8),
    #: what people and agents think of it: -1, 0 or 1
    Column("feedback", Integer, nullable=False, server_default="0"),
    #: which request of its session it was made in, from 1; 0 for none
    Column("prompt_number", Integer, nullable=False, server_default="0"),
    #: path or anchor → hash of what it said when the note was made
    Column("spoken", JSON, nullable=False, server_default="{}"),
    _text("git_commit", 64),
    #: equal for notes that are one (Note.same)
    _text("same", 32),
    Index("note_by_same", "same"),
    Index("note_by_project", "project", "state"),
    Index("note_by_type", "obs_type", "kind"),
    sqlite_autoincrement=True,
)

LABEL = Table(
    "label",
    METADATA,
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), primary_key=True),
    Column("label", String(64), primary_key=True),
    Column("place", Integer, nullable=False),
    Index("label_by_label", "label"),
)

NOTE_FILE = Table(
    "note_file",
    METADATA,
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("place", Integer, nullable=False),
    #: "read", "modified", or "" where nobody said
    _text("use", 8),
    #: when the file was changed last, as it was read then
    _moment("mtime"),
    Index("note_file_by_path", "path"),
)

EDGE = Table(
    "edge",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", String(36), nullable=False, unique=True),
    Column("source", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("target", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("relation", String(40), nullable=False),
    Column("weight", Float, nullable=False),
    _text("detection", 40),
    _text("reason", 256),
    _moment("created_at"),
    #: from when on it does not hold any more
    _moment("valid_until"),
    #: share of its weight that is left
    Column("faded", Float, server_default="1", nullable=False),
    UniqueConstraint("source", "target", "relation"),
    Index("edge_by_target", "target"),
    sqlite_autoincrement=True,
)

#: a note as it was before a change, whole
REVISION = Table(
    "revision",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("held", JSON, nullable=False),
    _moment("until"),
    Index("revision_by_note", "note"),
    Index("revision_by_until", "until"),
    sqlite_autoincrement=True,
)

#: what was carried out, so that it is not again: replies hold ids, never text. `what`: the kind of
#: operation; `did`: what takes it back (Records.did)
OPERATION = Table(
    "operation",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("payload", String(64), nullable=False),
    Column("reply", JSON, nullable=False),
    _text("what", 16),
    Column("did", JSON, nullable=False, server_default="[]"),
    _moment("created_at"),
    Index("operation_by_time", "created_at"),
)

#: what changed, in the order of the commits: derived indexes read on from the number that they have
#: reached. `what` is "note" or "edge", `of` its number; `mark`: a number drawn for the transaction,
#: by which an index knows its log again: one that was put back counts on from an older number
CHANGE = Table(
    "change",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("what", String(8), nullable=False),
    Column("of", BigInteger, nullable=False),
    Column("mark", BigInteger, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)

#: keyed hashes of ids and texts that were forgotten for good: an import does not bring them back
FORGOTTEN = Table(
    "forgotten",
    METADATA,
    Column("hash", String(64), primary_key=True),
    _moment("created_at"),
)

#: projects whose notes are kept as those of another, since somebody joined them
JOINED = Table(
    "joined",
    METADATA,
    Column("project", String(64), primary_key=True),
    Column("into", String(64), nullable=False),
    _moment("created_at"),
)

#: a conversation with an agent, as it was read from its file: `kind` names the format; how much of
#: the file was read (bytes), how large it was then, and the hash of what it ended with; `counts`:
#: lines by what became of them
SESSION = Table(
    "session",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", String(36), nullable=False, unique=True),
    _text("kind", 20),
    _text("workstation", 16),
    _text("project", 64),
    _text("source_id", 128),
    _text("project_path", 1024),
    _text("branch", 256),
    _text("file", 1024),
    Column("file_offset", BigInteger, nullable=False, server_default="0"),
    Column("file_size", BigInteger, nullable=False, server_default="0"),
    _text("file_tail", 64),
    Column("counts", JSON, nullable=False, server_default="{}"),
    Column("exchange_count", Integer, nullable=False, server_default="0"),
    _moment("started_at"),
    _moment("last_at"),
    UniqueConstraint("workstation", "project", "source_id"),
    Index("session_by_time", "project", "last_at"),
    sqlite_autoincrement=True,
)

#: what a person asked in a session, and all that the agent said and did until the next question
EXCHANGE = Table(
    "exchange",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("session", ForeignKey("session.number", ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    _text("user_text"),
    _text("assistant_text"),
    Column("tools", JSON, nullable=False),
    Column("files", JSON, nullable=False),
    _text("branch", 256),
    _moment("at"),
    UniqueConstraint("session", "place"),
    sqlite_autoincrement=True,
)

#: projects whose sessions are read, since a tool of memory was called there
FOLLOWED = Table(
    "followed",
    METADATA,
    Column("project", String(64), primary_key=True),
    _text("path", 1024),
    _moment("created_at"),
)

#: what several notes have in common; `kind`: workflow, best-practice …; `status`: active,
#: deprecated or merged; `signature`: the words that it is known by
PATTERN = Table(
    "pattern",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("name", String(256), nullable=False),
    _text("kind", 40),
    _text("description"),
    _text("recommendation"),
    Column("signature", JSON, nullable=False),
    _text("status", 12),
    Column("confidence", Float, nullable=False),
    Column("projects", JSON, nullable=False),
    _moment("last_seen"),
    _moment("created_at"),
    sqlite_autoincrement=True,
)

#: the notes of a pattern, each once: how many there are is how often it was seen
PATTERN_NOTE = Table(
    "pattern_note",
    METADATA,
    Column("pattern", ForeignKey("pattern.number", ondelete="CASCADE"), primary_key=True),
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), primary_key=True),
    Index("pattern_note_by_note", "note"),
)

#: what was asked, without the secrets in it
QUERY_LOG = Table(
    "query_log",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    _text("query"),
    _text("tool", 64),
    _text("project", 64),
    _moment("at"),
    Column("results", Integer, nullable=False),
    Column("took_ms", Float, nullable=False),
    Index("query_log_by_time", "at"),
    sqlite_autoincrement=True,
)

#: each time that somebody said what a note is worth: -1, 0 or 1
FEEDBACK = Table(
    "feedback",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("value", Integer, nullable=False),
    _moment("at"),
    Index("feedback_by_note", "note"),
    sqlite_autoincrement=True,
)

#: how far each piece of upkeep has come, and when it ran last
UPKEEP = Table(
    "upkeep",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("cursor", BigInteger, nullable=False, server_default="0"),
    Column("state", JSON, nullable=False, server_default="{}"),
    _moment("last_run"),
    Column("last_duration_ms", Float, nullable=False, server_default="0"),
)
