"""Observations written out, page by page: as JSON, as lines that an import reads, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import yaml

from cortex.memory.exchange import HEADER, note_record
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.observations.finding import choose, notes_of
from cortex.memory.observations.rows import TOKEN_BYTES, record_of, type_of
from cortex.memory.times import say_moment
from ipc.errors import BadRequest

Given = Mapping[str, Any]


def export_observations(library: Library, given: Given) -> dict[str, Any]:
    """{"format", "count", "observations" or "data", "next_cursor" where there are more}, the oldest
    first. Raises BadRequest for a cursor that no page gave.
    """
    memory, form = library.memory, given["format"]
    memory.follow()
    mask = memory.catalog.mask(choose(library, given))
    after = _after(given["cursor"])
    numbers = [number for number in mask.nonzero()[0].tolist() if number > after]
    page = notes_of(memory, numbers[: given["limit"]], {})
    written, room = list[tuple[Note, Any]](), given["max_tokens"] * TOKEN_BYTES
    for note in page:
        one, size = _written(library, note, form)
        if written and size > room:
            break
        written.append((note, one))
        room -= size
    told: dict[str, Any] = {"format": form, "count": len(written)}
    if form == "json":
        told["observations"] = [one for _, one in written]
    else:
        head = "" if form == "markdown" or given["cursor"] else f"{orjson.dumps(HEADER).decode()}\n"
        told["data"] = head + "".join(one for _, one in written)
    more = len(numbers) > len(written)
    return told | ({"next_cursor": str(written[-1][0].number)} if more and written else {})


def _after(cursor: str) -> int:
    if not cursor:
        return 0
    if not (cursor.isdecimal() and len(cursor) < 19):
        raise BadRequest(f"cursor is {cursor[:40]!r}; pass the `next_cursor` of the page before.")
    return int(cursor)


def _written(library: Library, note: Note, form: str) -> tuple[Any, int]:
    """(the note in that form, bytes of it)."""
    if form == "json":
        record = record_of(note)
        return record, len(orjson.dumps(record))
    if form == "jsonl":
        line = orjson.dumps(note_record(note, library.memory.store.revisions(note.number))).decode() + "\n"
    else:
        line = markdown_of(note)
    return line, len(line.encode())


def markdown_of(note: Note) -> str:
    """A page with front matter, which an import reads when it is a file of its own."""
    about = {
        "id": note.id,
        "title": note.title,
        "kind": note.kind,
        "type": type_of(note),
        "tags": list(note.labels),
        "files": list(note.files),
        "facts": list(note.facts),
        "importance": note.importance,
        "scope": note.scope,
        "created_at": say_moment(note.created_at),
    }
    if note.occurred_at:
        about["occurred_at"] = say_moment(note.occurred_at)
    front = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=1_000)
    return f"---\n{front}---\n# {note.title}\n\n{note.body}\n\n"
