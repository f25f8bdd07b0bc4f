"""The tables of the store, for any database of SQLAlchemy. No queries. Moments are UTC
milliseconds, 0 for none; missing texts are "".
"""

from typing import Any

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
#: the version of the store that this code reads and writes. A new table, column or index raises it;
#: older stores are migrated by these definitions alone, so a new column has a `server_default` and
#: no ForeignKey
VERSION = "0009"

#: SQLite counts up only in a column of type INTEGER
_NUMBER = BigInteger().with_variant(Integer, "sqlite")


def _numbered(name: str, *parts: Column[Any] | Index | UniqueConstraint) -> Table:
    """A table with a number for each row, which no later row gets again."""
    number = Column("number", _NUMBER, primary_key=True, autoincrement=True)
    return Table(name, METADATA, number, *parts, sqlite_autoincrement=True)


def _moment(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default="0")


def _text(name: str, length: int = 0) -> Column[str]:
    return Column(name, String(length) if length else Text, nullable=False, server_default="")


NOTE = _numbered(
    "note",
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
    #: last rating by people and agents: -1, 0 or 1
    Column("feedback", Integer, nullable=False, server_default="0"),
    #: number of the request in its session, from 1; 0 for none
    Column("prompt_number", Integer, nullable=False, server_default="0"),
    #: path or anchor → digest of its code when the note was written
    Column("spoken", JSON, nullable=False, server_default="{}"),
    _text("git_commit", 64),
    #: equal for notes with the same title, kind and project (Note.same)
    _text("same", 32),
    #: a name for what the note is about, of which the newest version is active
    _text("topic", 64),
    #: the branch on which it was made, "" for none
    _text("branch", 256),
    Index("note_by_same", "same"),
    Index("note_by_topic", "topic"),
    Index("note_by_project", "project", "state"),
    Index("note_by_type", "obs_type", "kind"),
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
    #: "read", "modified", or "" if unknown
    _text("use", 8),
    #: the file's last change, as its program reported it
    _moment("mtime"),
    Index("note_file_by_path", "path"),
)

EDGE = _numbered(
    "edge",
    Column("id", String(36), nullable=False, unique=True),
    Column("source", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("target", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("relation", String(40), nullable=False),
    Column("weight", Float, nullable=False),
    _text("detection", 40),
    _text("reason", 256),
    _moment("created_at"),
    #: end of its validity
    _moment("valid_until"),
    #: share of its weight that is left
    Column("faded", Float, server_default="1", nullable=False),
    UniqueConstraint("source", "target", "relation"),
    Index("edge_by_target", "target"),
)

#: all fields of a note before a change
REVISION = _numbered(
    "revision",
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("held", JSON, nullable=False),
    _moment("until"),
    Index("revision_by_note", "note"),
    Index("revision_by_until", "until"),
)

#: operations, so that none is carried out twice: replies hold ids, never text. `what`: the kind of
#: operation; `did`: the changes that `undo` reverts (Records.did)
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

#: changes in the order of the commits: an index reads on from the last number that it followed.
#: `what` is "note" or "edge", `of` its number; `mark`: a random number for each transaction, by
#: which an index recognises its log: a restored store counts on from an older number
CHANGE = _numbered(
    "change",
    Column("what", String(8), nullable=False),
    Column("of", BigInteger, nullable=False),
    Column("mark", BigInteger, nullable=False, server_default="0"),
)

#: keyed hashes of ids and texts that were forgotten for good: no import brings them back
FORGOTTEN = Table("forgotten", METADATA, Column("hash", String(64), primary_key=True), _moment("created_at"))

#: projects that share the notes of another one, since a person linked them
JOINED = Table(
    "joined",
    METADATA,
    Column("project", String(64), primary_key=True),
    Column("into", String(64), nullable=False),
    _moment("created_at"),
)

#: a conversation with an agent, as read from its file: `kind` is the format; bytes of the file that
#: were read, its size then, and the hash of its last bytes; `counts`: lines by how they were
#: understood
SESSION = _numbered(
    "session",
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
)

#: a person's prompt in a session, and everything that the agent wrote and did until the next one
EXCHANGE = _numbered(
    "exchange",
    Column("session", ForeignKey("session.number", ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    _text("user_text"),
    _text("assistant_text"),
    Column("tools", JSON, nullable=False),
    Column("files", JSON, nullable=False),
    _text("branch", 256),
    _moment("at"),
    UniqueConstraint("session", "place"),
)

#: projects with sessions that are read, since a tool of memory was called there
FOLLOWED = Table(
    "followed",
    METADATA,
    Column("project", String(64), primary_key=True),
    _text("path", 1024),
    _moment("created_at"),
    #: device, inode and birth time of its git folder, as long as the folder was there
    _text("git", 80),
)

#: sentences that rules propose as notes; `state`: open, taken, dropped or expired; `text` is ""
#: unless open. `hash`: a keyed hash of project and text, by which none is proposed twice. `note`:
#: the note that it was, or became
CANDIDATE = _numbered(
    "candidate",
    Column("hash", String(64), nullable=False),
    _text("project", 64),
    _text("kind", 40),
    _text("text"),
    _text("state", 12),
    _text("agent", 128),
    _text("session", 128),
    Column("origin", JSON, nullable=False, server_default="{}"),
    Column("note", ForeignKey("note.number", ondelete="CASCADE")),
    Column("exchange", ForeignKey("exchange.number", ondelete="CASCADE")),
    _moment("said_at"),
    _moment("created_at"),
    Index("candidate_by_hash", "hash"),
    Index("candidate_by_project", "project", "state"),
)

#: a common pattern of notes; `kind`: workflow, best-practice …; `status`: active, deprecated or
#: merged; `signature`: its characteristic words
PATTERN = _numbered(
    "pattern",
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
)

#: the notes of a pattern, each once: their number is how often it was seen
PATTERN_NOTE = Table(
    "pattern_note",
    METADATA,
    Column("pattern", ForeignKey("pattern.number", ondelete="CASCADE"), primary_key=True),
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), primary_key=True),
    Index("pattern_note_by_note", "note"),
)

#: search queries, without secrets
QUERY_LOG = _numbered(
    "query_log",
    _text("query"),
    _text("tool", 64),
    _text("project", 64),
    _moment("at"),
    Column("results", Integer, nullable=False),
    Column("took_ms", Float, nullable=False),
    Index("query_log_by_time", "at"),
)

#: each rating of a note: -1, 0 or 1
FEEDBACK = _numbered(
    "feedback",
    Column("note", ForeignKey("note.number", ondelete="CASCADE"), nullable=False),
    Column("value", Integer, nullable=False),
    _moment("at"),
    Index("feedback_by_note", "note"),
)

#: the progress of each upkeep job, and its last run
UPKEEP = Table(
    "upkeep",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("cursor", BigInteger, nullable=False, server_default="0"),
    Column("state", JSON, nullable=False, server_default="{}"),
    _moment("last_run"),
    Column("last_duration_ms", Float, nullable=False, server_default="0"),
)
