"""Which notes speak of which files and definitions, and what these said then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from cortex.memory.answers import is_instruction, visible_text
from cortex.memory.library import Library
from cortex.memory.note import Note, Source, anchors_of, read_kind
from cortex.memory.tables import NOTE, NOTE_FILE
from cortex.memory.transcripts.changed_files import CHANNEL as CHANGED
from cortex.system.errors import TooLarge

#: notes and files that are asked about at once
NOTES_MAX, PATHS_MAX = 1_000, 500
#: notes that one answer about places reads: those beyond are not counted
READ_MAX = 5_000
#: notes that are told of one place, and the most of them
BEST, BEST_MAX = 2, 20
#: characters of a title beside code
TITLE_CHARS_MAX = 80
#: the channel of notes that are commits: every file has many
GIT = "git"

_COLUMNS = (NOTE_FILE.c.path, NOTE.c.number, NOTE.c.kind, NOTE.c.title, NOTE.c.metadata, NOTE.c.trust)
_NOTES_OF_FILES = (
    select(*_COLUMNS)
    .join(NOTE, NOTE.c.number == NOTE_FILE.c.note)
    .where(
        NOTE_FILE.c.path.in_(bindparam("paths", expanding=True)),
        NOTE.c.state == "active",
        NOTE.c.project == bindparam("project"),
        NOTE.c.channel.not_in((GIT, CHANGED)),
    )
    .order_by(NOTE.c.importance.desc(), NOTE.c.updated_at.desc(), NOTE.c.number.desc())
    .limit(READ_MAX)
)


def spoken(library: Library, *, notes: Sequence[int]) -> dict[str, Any]:
    """{"notes": {number: {"files", "anchors", "spoken"}}}: what notes of this project are about,
    and what it said when they were made. Of other notes, and those without a place, nothing.

    Raises TooLarge.
    """
    if len(notes) > NOTES_MAX:
        raise TooLarge(f"{len(notes)} notes; {NOTES_MAX} are told of at once.")
    loaded = library.memory.store.notes_by_number(notes)
    return {
        "notes": {
            str(note.number): {
                "files": list(note.files),
                "anchors": anchors_of(note.metadata),
                "spoken": dict(note.spoken),
            }
            for note in loaded
            if note.spoken and note.project == library.project
        }
    }


def notes_by_file(
    library: Library, *, paths: Sequence[str], kinds: Sequence[str] = (), limit: int = BEST
) -> dict[str, Any]:
    """{"places": {path: {"count", "best": [{"number", "kind", "title", "anchors"}]}}}: the notes of
    this project that hold and are about these files, the important ones first; commits, and
    what a session changed, are none.

    Raises TooLarge, and BadRequest for a kind that is none.
    """
    if len(paths) > PATHS_MAX:
        raise TooLarge(f"{len(paths)} files; {PATHS_MAX} are told of at once.")
    wanted = {read_kind(kind) for kind in kinds}
    query = _NOTES_OF_FILES.where(NOTE.c.kind.in_(wanted)) if wanted else _NOTES_OF_FILES
    with library.memory.store.database.read() as connection:
        rows = connection.execute(query, {"paths": list(paths), "project": library.project}).all()
    places: dict[str, dict[str, Any]] = {}
    for row in rows:
        place = places.setdefault(row.path, {"count": 0, "best": []})
        place["count"] += 1
        if len(place["best"]) < min(limit, BEST_MAX) and not _is_instruction(row):
            place["best"].append(_place_row(row))
    return {"places": places}


def files_with_anchors(
    library: Library, reference: str | int, files: Sequence[str] | None, anchored: Sequence[str]
) -> tuple[str, ...] | None:
    """The files of a note that is written: those given, else those that the note `reference` has;
    and those of its anchors. None for no change. Raises NotFound.
    """
    if files is None and not anchored:
        return None
    if files is None:
        files = library.memory.store.need(reference).files if reference else ()
    return tuple(dict.fromkeys((*files, *anchored)))


def _place_row(row: Any) -> dict[str, Any]:
    title = " ".join(visible_text(row.title).split())
    cut = title if len(title) <= TITLE_CHARS_MAX else f"{title[:TITLE_CHARS_MAX].rstrip()}…"
    return {"number": row.number, "kind": row.kind, "title": cut, "anchors": anchors_of(row.metadata)}


def _is_instruction(row: Any) -> bool:
    """Whether its title, which is all that is told of it, reads like an instruction."""
    return is_instruction(Note(title=row.title, source=Source(trust=row.trust)))
