"""Projects that share notes: linking, separating, and undoing both, in one transaction."""

from dataclasses import replace
from typing import Any

from sqlalchemy import delete, insert, select, update

from cortex.memory.note import Note
from cortex.memory.store.records import Records, batches
from cortex.memory.store.tables import JOINED, NOTE, REVISION
from cortex.system.errors import BadRequest, NotFound


def join(records: Records, project: str, other: str) -> dict[str, Any]:
    """Make `project` share the notes of `other`: {"moved": count}. Raises NotFound for an `other`
    without notes, BadRequest when they share them already.
    """
    into, home = (_home(records, member) for member in (other, project))
    if into == home:
        raise BadRequest(f"{project} and {other} share their notes already.")
    if not records.connection.execute(select(NOTE.c.number).where(NOTE.c.project == into).limit(1)).first():
        raise NotFound(
            f"{other[:80]!r} has no notes; `cortex memory link` lists the projects that have some. To join "
            "that one to this, link the other way round."
        )
    followers = select(JOINED.c.project).where(JOINED.c.into == project)
    for member in (project, *records.connection.execute(followers).scalars().all()):
        _set_home(records, member, into)
    return {"moved": _move_all(records, project, into)}


def separate(records: Records, project: str) -> dict[str, Any]:
    """Make `project` keep separate notes again: {}. Raises BadRequest when it does."""
    if _home(records, project) == project:
        raise BadRequest(f"{project} shares no other project's notes.")
    _set_home(records, project, "")
    return {}


def _home(records: Records, project: str) -> str:
    query = select(JOINED.c.into).where(JOINED.c.project == project)
    return records.connection.execute(query).scalar() or project


def _set_home(records: Records, project: str, into: str) -> None:
    """Store the project `into` that keeps the notes of `project`, "" for itself."""
    of_project = JOINED.c.project == project
    before = records.connection.execute(select(JOINED.c.into).where(of_project)).scalar() or ""
    records.connection.execute(delete(JOINED).where(of_project))
    if into:
        values = {"project": project, "into": into, "created_at": records.now}
        records.connection.execute(insert(JOINED), values)
    records.did.append(["joined", project, before])


def _move_all(records: Records, project: str, into: str) -> int:
    numbers = list(
        records.connection.execute(select(NOTE.c.number).where(NOTE.c.project == project)).scalars()
    )
    for batch in batches(numbers):
        for note in records.get(batch):
            _move(records, note, into)
    return len(numbers)


def _move(records: Records, note: Note, into: str) -> None:
    """Change the project of the note and its revisions, so that `as_of` finds it."""
    moved_note = replace(note, project=into)
    of_note = NOTE.c.number == note.number
    records.connection.execute(update(NOTE).where(of_note).values(project=into, same=moved_note.same))
    revisions = select(REVISION.c.number, REVISION.c.held).where(REVISION.c.note == note.number)
    for number, before in records.connection.execute(revisions).all():
        moved = update(REVISION).where(REVISION.c.number == number)
        records.connection.execute(moved.values(held=before | {"project": into}))
    records.log_note(moved_note)
    records.did.append(["moved", note.number, note.project])


def take_back(records: Records, what: str, which: Any, before: str) -> None:
    """Undo one entry of Records.did: ["joined", project, previous `into`] or ["moved", note's
    number, previous project].
    """
    if what == "joined":
        _set_home(records, which, before)
    else:
        for note in records.get([which]):
            _move(records, note, before)
