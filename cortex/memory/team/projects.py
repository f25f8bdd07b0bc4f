"""The project that keeps a project's notes. A clone or copy of a repository is a separate project
until a person links it to another: any archive can claim the same remotes and first commits.
"""

from typing import Any

from sqlalchemy import func, select

from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import FOLLOWED, JOINED, NOTE
from cortex.memory.team.project_joins import join, separate
from cortex.memory.times import format_moment
from cortex.system.errors import BadRequest


class Projects:
    """The links between the projects of one store. Use it in one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def home_of(self, project: str) -> str:
        """The project that keeps the notes of this one: itself, unless it was linked to another."""
        if self._store.homes is None or self._store.database.is_new("homes"):
            with self._store.database.read() as connection:
                query = select(JOINED.c.project, JOINED.c.into)
                self._store.homes = {row.project: row.into for row in connection.execute(query)}
        return self._store.homes.get(project, project)

    def all_of(self, project: str) -> list[str]:
        """A project and those linked to it; [] for "", which means all."""
        self.home_of(project)
        joined = [name for name, home in (self._store.homes or {}).items() if home == project]
        return [project, *joined] if project else []

    def names(self) -> list[str]:
        """The projects with notes or a known folder."""
        with self._store.database.read() as connection:
            noted = connection.execute(
                select(NOTE.c.project).where(NOTE.c.project != "").distinct()
            ).scalars()
            followed = connection.execute(select(FOLLOWED.c.project)).scalars()
            return sorted({*noted, *followed})

    def with_notes(self) -> list[dict[str, Any]]:
        """[{"project", "notes", "newest"}] of all projects with notes, the newest first."""
        newest = func.max(NOTE.c.created_at)
        query = select(NOTE.c.project, func.count(), newest).where(NOTE.c.state != "deleted")
        query = query.where(NOTE.c.project != "").group_by(NOTE.c.project).order_by(newest.desc())
        with self._store.database.read() as connection:
            rows = connection.execute(query).all()
        return [{"project": row[0], "notes": row[1], "newest": format_moment(row[2])} for row in rows]

    def _project_at(self, other: str) -> str:
        """The project that was followed in this folder, which may be gone; else `other`."""
        with self._store.database.read() as connection:
            query = select(FOLLOWED.c.project).where(FOLLOWED.c.path == other)
            query = query.order_by(FOLLOWED.c.created_at.desc()).limit(1)
            project = connection.execute(query).scalar() if other else None
        return str(project) if project else other

    def link(self, project: str, other: str, operation: str, *, remove: bool) -> dict[str, Any]:
        """Return {"project", "home": the project that keeps its notes, "projects": all with notes},
        and after a link "moved": the number of notes that joined the others. `other`: share the
        notes of that project from now on; `remove`: keep separate notes again, and leave the
        earlier ones there. Raises NotFound for an `other` without notes, BadRequest when nothing
        would change.
        """
        if (other or remove) and not project:
            raise BadRequest("No project: run this in a project's folder.")
        outcome: dict[str, Any] = {}
        other = self._project_at(other)
        if other or remove:
            request = {"link": project, "to": other, "remove": remove}
            outcome = self._store.once(
                operation,
                "link",
                request,
                lambda records: separate(records, project) if remove else join(records, project, other),
            )
            self._store.homes = None
        return {"project": project, "home": self.home_of(project), "projects": self.with_notes()} | outcome
