"""Projects whose notes are one. A clone or a copy of a repository is a project of its own until a
person joins it to another: remotes and first commits are what a stranger's archive can claim, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from cortex.memory.note import Note
from cortex.memory.records import Records, parts
from cortex.memory.tables import JOINED, NOTE, REVISION
from cortex.memory.times import say_moment
from ipc.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from cortex.memory.store import Store


class Projects:
    """Which project's notes are whose. Use it in one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def home_of(self, project: str) -> str:
        """The project that keeps the notes of this one: itself, unless it was joined to another."""
        if self._store.homes is None:
            with self._store.database.read() as connection:
                query = select(JOINED.c.project, JOINED.c.into)
                self._store.homes = {row.project: row.into for row in connection.execute(query)}
        return self._store.homes.get(project, project)

    def known(self) -> list[dict[str, Any]]:
        """[{"project", "notes", "newest"}] of all that have notes, the newest first."""
        newest = func.max(NOTE.c.created_at)
        query = select(NOTE.c.project, func.count(), newest).where(NOTE.c.state != "deleted")
        query = query.where(NOTE.c.project != "").group_by(NOTE.c.project).order_by(newest.desc())
        with self._store.database.read() as connection:
            rows = connection.execute(query).all()
        return [{"project": row[0], "notes": row[1], "newest": say_moment(row[2])} for row in rows]

    def link(self, project: str, other: str, operation: str, *, remove: bool) -> dict[str, Any]:
        """{"project", "home": which keeps its notes, "projects": all that have some}, and after a
        link "moved": how many of its own joined them.

        `other`: from now on the notes of `project` are those of that one; `remove`: its own again,
        and those that were kept stay where they are. Raises NotFound for an `other` without notes,
        BadRequest when there is nothing to be done.
        """
        if (other or remove) and not project:
            raise BadRequest("Say whose notes are meant: ask from a project's folder.")
        told: dict[str, Any] = {}
        if other or remove:
            asked = {"link": project, "to": other, "remove": remove}
            told = self._store.once(
                operation,
                "link",
                asked,
                lambda records: _part(records, project) if remove else _join(records, project, other),
            )
            self._store.homes = None
        return {"project": project, "home": self.home_of(project), "projects": self.known()} | told


def _join(records: Records, project: str, other: str) -> dict[str, Any]:
    into, home = (_home(records, each) for each in (other, project))
    if into == home:
        raise BadRequest(f"The notes of {project} and of {other} are one already.")
    if not records.connection.execute(select(NOTE.c.number).where(NOTE.c.project == into).limit(1)).first():
        raise NotFound(
            f"No notes are kept of {other[:80]!r}; `cortex memory link` lists the projects that have some. To join "
            "that one to this, link the other way round."
        )
    followers = select(JOINED.c.project).where(JOINED.c.into == project)
    for each in (project, *records.connection.execute(followers).scalars().all()):
        _point(records, each, into)
    return {"moved": _move_all(records, project, into)}


def _part(records: Records, project: str) -> dict[str, Any]:
    if _home(records, project) == project:
        raise BadRequest(f"The notes of {project} are its own already.")
    _point(records, project, "")
    return {}


def _home(records: Records, project: str) -> str:
    query = select(JOINED.c.into).where(JOINED.c.project == project)
    return records.connection.execute(query).scalar() or project


def _point(records: Records, project: str, into: str) -> None:
    """Have the notes of `project` kept by `into`, "" for itself."""
    own = JOINED.c.project == project
    before = records.connection.execute(select(JOINED.c.into).where(own)).scalar() or ""
    records.connection.execute(delete(JOINED).where(own))
    if into:
        values = {"project": project, "into": into, "created_at": records.now}
        records.connection.execute(insert(JOINED), values)
    records.did.append(["joined", project, before])


def _move_all(records: Records, project: str, into: str) -> int:
    numbers = list(
        records.connection.execute(select(NOTE.c.number).where(NOTE.c.project == project)).scalars()
    )
    for some in parts(numbers):
        for note in records.get(some):
            _move(records, note, into)
    return len(numbers)


def _move(records: Records, note: Note, into: str) -> None:
    """Have the note be of another project, and have been of it: whose it is was never believed."""
    told = replace(note, project=into)
    own = NOTE.c.number == note.number
    records.connection.execute(update(NOTE).where(own).values(project=into, same=told.same))
    held = select(REVISION.c.number, REVISION.c.held).where(REVISION.c.note == note.number)
    for number, before in records.connection.execute(held).all():
        moved = update(REVISION).where(REVISION.c.number == number)
        records.connection.execute(moved.values(held=before | {"project": into}))
    records.wrote(told)
    records.did.append(["moved", note.number, note.project])


def take_back(records: Records, what: str, which: Any, before: str) -> None:
    """Undo one entry of Records.did: ["joined", project, into what before] or ["moved", note's
    number, project before].
    """
    if what == "joined":
        _point(records, which, before)
    else:
        for note in records.get([which]):
            _move(records, note, before)
