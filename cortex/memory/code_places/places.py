"""Notes by file: which notes are about a file or definition, and the code of their places when they
were written; and notes whose places were not looked up yet, because they were stored before their
project was indexed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import String, bindparam, cast, exists, or_, select

from cortex.memory.answers import is_instruction, visible_text
from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.note import Note, Source, anchors_of, normalise_note, read_kind, with_anchors
from cortex.memory.store.tables import NOTE, NOTE_FILE
from cortex.memory.transcripts.proposing.changed_files import CHANNEL as CHANGED
from cortex.system.errors import BadRequest, TooLarge
from cortex.terms.text.secrets import remove_secrets_in

#: notes and files of one call
NOTES_MAX, PATHS_MAX = 1_000, 500
#: notes that one answer reads; those beyond are not counted
READ_MAX = 5_000
#: notes listed for a file by default, and at most
BEST, BEST_MAX = 2, 20
#: characters of a note's title beside code
TITLE_CHARS_MAX = 80
#: channel of notes that are commits; they are left out, for every file has many
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
#: notes of one call; the newest notes that are examined: some 5 ms of the worker, which answers
#: nothing else meanwhile
UNPLACED_MAX, LOOKED = 200, 500


def spoken(library: Library, *, notes: Sequence[int]) -> dict[str, Any]:
    """Return {"notes": {number: {"files", "anchors", "spoken"}}}: the places of notes of this
    project, and digests of their code when they were written. Notes without a place and of other
    projects are left out. Raises TooLarge.
    """
    if len(notes) > NOTES_MAX:
        raise TooLarge(f"{len(notes)} notes; one call takes {NOTES_MAX}.")
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
    """Return {"places": {path: {"count", "best": [{"number", "kind", "title", "anchors"}]}}}: the
    active notes of this project about these files, the most important first, without commits and
    notes of a session's changes. Raises TooLarge, and BadRequest for an unknown kind.
    """
    if len(paths) > PATHS_MAX:
        raise TooLarge(f"{len(paths)} files; one call takes {PATHS_MAX}.")
    wanted = {read_kind(kind) for kind in kinds}
    query = _NOTES_OF_FILES.where(NOTE.c.kind.in_(wanted)) if wanted else _NOTES_OF_FILES
    with library.memory.store.database.read() as connection:
        rows = connection.execute(query, {"paths": list(paths), "project": library.project}).all()
    places: dict[str, dict[str, Any]] = {}
    for row in rows:
        place = places.setdefault(row.path, {"count": 0, "best": []})
        place["count"] += 1
        shown = Note(title=row.title, source=Source(trust=row.trust))
        if len(place["best"]) < min(limit, BEST_MAX) and not is_instruction(shown):
            place["best"].append(_place_row(row))
    return {"places": places}


def files_with_anchors(
    library: Library, reference: str | int, files: Sequence[str] | None, anchored: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the files of a note that is being written: `files`, or the present files of the note
    `reference`; then the files of its anchors. None for no change. Raises NotFound.
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


class Placed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The places of a note as they were looked up; `at`: the `updated_at` of the note's text."""

    number: int
    at: int
    files: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    anchored: tuple[str, ...] = ()
    spoken: dict[str, str] = {}


def unplaced(library: Library) -> dict[str, Any]:
    """Return {"notes": [{"number", "at", "files", "anchors"}]}: of the newest LOOKED active notes
    of this project, those with places that were not looked up, without commits and notes of a
    session's changes.
    """
    has_places = or_(
        exists().where(NOTE_FILE.c.note == NOTE.c.number), cast(NOTE.c.metadata, String).contains('"anchors"')
    )
    store, catalog = library.memory.store, library.memory.catalog
    mask = catalog.mask(Selection(project=library.project))
    newest = np.flatnonzero(mask)[-LOOKED:].tolist()
    query = select(NOTE.c.number).where(
        NOTE.c.number.in_(newest),
        NOTE.c.project == library.project,
        NOTE.c.channel.not_in((GIT, CHANGED)),
        cast(NOTE.c.spoken, String) == "{}",
        has_places,
    )
    with store.database.read() as connection:
        page = query.order_by(NOTE.c.number.desc()).limit(UNPLACED_MAX)
        numbers = list(connection.execute(page).scalars())
    return {
        "notes": [
            {
                "number": note.number,
                "at": note.updated_at,
                "files": list(note.files),
                "anchors": anchors_of(note.metadata),
            }
            for note in store.notes_by_number(numbers)
        ]
    }


def place(library: Library, *, notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Store the places of notes that have not changed since; return {"notes": their count}. The
    texts stay, and `undo` does not revert it. Raises TooLarge, and BadRequest for a malformed note.
    """
    if len(notes) > UNPLACED_MAX:
        raise TooLarge(f"{len(notes)} notes; one call takes {UNPLACED_MAX}.")
    try:
        placements = [msgspec.convert(remove_secrets_in(dict(raw_note))[0], Placed) for raw_note in notes]
    except msgspec.ValidationError as error:
        raise BadRequest(f"This is no note with its places: {error}.") from error
    store, done = library.memory.store, 0
    with store.transaction() as records:
        current = {note.number: note for note in records.get([placement.number for placement in placements])}
        for placement in placements:
            note = current.get(placement.number)
            if (
                note
                and note.project == library.project
                and note.updated_at == placement.at
                and not note.spoken
            ):
                records.change(note, _with_place(note, placement))
                done += 1
    library.memory.follow()
    return {"notes": done}


def _with_place(note: Note, placement: Placed) -> Note:
    metadata = with_anchors(note.metadata, placement.anchors) if placement.anchors else note.metadata
    files = tuple(dict.fromkeys((*placement.files, *placement.anchored)))
    return normalise_note(replace(note, files=files, metadata=metadata, spoken=placement.spoken))
