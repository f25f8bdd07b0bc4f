"""Notes with places that were not looked up yet, because they were stored before their project was
indexed. Opens no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import String, cast, exists, or_, select

from cortex.memory.code_places.places import GIT
from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.note import Note, anchors_of, normalise_note, with_anchors
from cortex.memory.store.tables import NOTE, NOTE_FILE
from cortex.memory.transcripts.proposing.changed_files import CHANNEL as CHANGED
from cortex.system.errors import BadRequest, TooLarge
from cortex.terms.text.secrets import remove_secrets_in

#: notes of one call; the newest notes that are examined: some 5 ms of the worker, which answers
#: nothing else meanwhile
NOTES_MAX, LOOKED = 200, 500


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
        page = query.order_by(NOTE.c.number.desc()).limit(NOTES_MAX)
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
    if len(notes) > NOTES_MAX:
        raise TooLarge(f"{len(notes)} notes; one call takes {NOTES_MAX}.")
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
