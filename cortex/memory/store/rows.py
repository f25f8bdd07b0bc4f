"""Conversion of notes and edges to rows of their tables and back, and of notes to revisions.
Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import orjson

from cortex.memory.find.catalog import Outline
from cortex.memory.note import Edge, Note, Source
from cortex.memory.store.tables import NOTE

#: fields of a note with a column of the same name
_PLAIN = (
    "id", "kind", "obs_type", "memory_type", "title", "subtitle", "body", "project", "scope", "importance",
    "relevance", "state", "superseded_by", "occurred_at", "valid_from", "valid_until", "created_at", "updated_at",
    "used_at", "use_count", "shown_count", "feedback", "prompt_number", "git_commit", "topic",
)  # fmt: skip
#: columns that hold JSON
_JSON = ("facts", "metadata", "spoken")
#: fields of a note in the order of the columns; all columns to read a note from
_NOTE_FIELDS = ("number", *_PLAIN, *_JSON)
NOTE_COLUMNS = tuple(NOTE.c[name] for name in (*_NOTE_FIELDS, "agent", "session", "channel", "trust"))
#: columns of an Outline
OUTLINE = tuple(NOTE.c[name] for name in Outline._fields if name != "labels")
_LISTS = ("facts", "labels", "files", "modified", "read")
_FIELDS = frozenset(field.name for field in fields(Note))
_OF_EDGE = tuple(field.name for field in fields(Edge))


def values_of(note: Note) -> dict[str, Any]:
    """The columns of a note, without its number."""
    return {name: getattr(note, name) for name in _PLAIN} | {
        "facts": list(note.facts),
        "metadata": dict(note.metadata),
        "spoken": dict(note.spoken),
        "agent": note.source.agent,
        "session": note.source.session,
        "channel": note.source.channel,
        "trust": note.source.trust,
        "same": note.same,
        "branch": note.branch,
    }


def note_of(row: Sequence[Any], labels: Sequence[str], files: Sequence[tuple[str, str, int]]) -> Note:
    """The note of a row with NOTE_COLUMNS, JSON as text; `files`: (path, use, mtime) of each."""
    plain: dict[str, Any] = dict(zip(_NOTE_FIELDS, row, strict=False))
    for name in _JSON:
        plain[name] = orjson.loads(plain[name])
    plain["facts"] = tuple(plain["facts"])
    if files:  # most notes have none, and a query reads thirty notes
        plain |= {
            "files": tuple(path for path, _, _ in files),
            "modified": tuple(path for path, use, _ in files if use == "modified"),
            "read": tuple(path for path, use, _ in files if use == "read"),
            "mtimes": {path: mtime for path, _, mtime in files if mtime},
        }
    return Note(**plain, labels=tuple(labels), source=Source(*row[len(_NOTE_FIELDS) :]))


def labels_of(note: Note) -> list[dict[str, Any]]:
    """The rows of its labels."""
    return [{"note": note.number, "label": label, "place": at} for at, label in enumerate(note.labels)]


def files_of(note: Note) -> list[dict[str, Any]]:
    """The rows of its files."""
    uses = dict.fromkeys(note.read, "read") | dict.fromkeys(note.modified, "modified")
    return [
        {
            "note": note.number,
            "path": path,
            "place": at,
            "use": uses.get(path, ""),
            "mtime": note.mtimes.get(path, 0),
        }
        for at, path in enumerate(note.files)
    ]


def outline_of(note: Note) -> Outline:
    of_source: dict[str, Any] = {"session": note.source.session, "trust": note.source.trust}
    plain = {name: getattr(note, name) for name in Outline._fields if name not in of_source}
    return Outline(**plain, **of_source)


def note_of_revision(revision: Mapping[str, Any]) -> Note:
    """The note of a revision; fields that an older version lacked get their defaults."""
    plain: dict[str, Any] = {name: value for name, value in revision.items() if name in _FIELDS}
    lists = {name: tuple(plain.get(name, ())) for name in _LISTS}
    return Note(**(plain | lists | {"source": Source(**revision["source"])}))


def edge_of(row: Any) -> Edge:
    return Edge(**{name: getattr(row, name) for name in _OF_EDGE})
