"""A note as the columns of its table, and back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cortex.memory.note import Note, Source

#: fields of a note that are columns of the same name
_PLAIN = (
    "id", "kind", "obs_type", "title", "subtitle", "body", "project", "scope", "importance", "relevance", "state",
    "superseded_by", "occurred_at", "valid_until", "created_at", "updated_at", "used_at", "use_count",
)  # fmt: skip


def values_of(note: Note) -> dict[str, Any]:
    """The row of the note, without its number."""
    return {name: getattr(note, name) for name in _PLAIN} | {
        "facts": list(note.facts),
        "metadata": dict(note.metadata),
        "agent": note.source.agent,
        "session": note.source.session,
        "channel": note.source.channel,
        "trust": note.source.trust,
        "same": note.same,
    }


def note_of(row: Any, labels: Sequence[str], files: Sequence[str]) -> Note:
    """The note of a row with the columns of the table."""
    return Note(
        **{name: getattr(row, name) for name in _PLAIN},
        number=row.number,
        facts=tuple(row.facts),
        labels=tuple(labels),
        files=tuple(files),
        metadata=row.metadata,
        source=Source(row.agent, row.session, row.channel, row.trust),
    )
