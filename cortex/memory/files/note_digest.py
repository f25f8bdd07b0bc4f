"""The hash of everything that a person edits in a note's Markdown file. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from cortex.memory.note import Note

#: fields that a person edits in the file, besides title and body → field of a note
EDITED = {
    "kind": "kind",
    "topic": "topic",
    "tags": "labels",
    "files": "files",
    "facts": "facts",
    "scope": "scope",
    "state": "state",
    "importance": "importance",
}


def digest(title: str, body: str, edited: Mapping[str, Any]) -> str:
    """`edited`: the values by their names in the file; the order of a list counts."""
    values = [title, body.strip("\n"), {name: edited.get(name) or "" for name in EDITED}]
    return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def edited_fields(note: Note) -> dict[str, Any]:
    values = {name: getattr(note, field) for name, field in EDITED.items()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def digest_of(note: Note) -> str:
    return digest(note.title, note.body, edited_fields(note))
