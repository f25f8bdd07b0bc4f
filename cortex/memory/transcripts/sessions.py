"""Operations on sessions: search and list for everybody, progress and intake for their reader."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update

from cortex.memory.library import Library
from cortex.memory.store import Store
from cortex.memory.tables import FOLLOWED, SESSION
from cortex.memory.transcripts import exchange_search
from cortex.memory.transcripts.intake import read_incoming_portion, take
from cortex.memory.transcripts.rules import store_notes


def search_sessions(library: Library, *, query: str, limit: int = 10, offset: int = 0) -> dict[str, Any]:
    """Sessions with an exchange that matches the query, each with its best exchange; without a
    query all of them, the newest first.
    """
    if not query.strip():
        return list_sessions(library, limit=limit, offset=offset) | {"query": query}
    memory = library.memory
    projects = memory.projects.all_of(library.project)
    return exchange_search.search(
        memory.store, memory.exchange_index, query, projects, limit=limit, offset=offset
    )


def list_sessions(
    library: Library, *, workstation_id: str = "", project_id: str = "", limit: int = 20, offset: int = 0
) -> dict[str, Any]:
    """Sessions of this project, of `project_id`, or for "all" of all, the newest first."""
    memory = library.memory
    project = "" if project_id == "all" else memory.projects.home_of(project_id)
    projects = memory.projects.all_of(project if project_id else library.project)
    return exchange_search.list_rows(memory.store, projects, limit, offset, workstation_id)


def followed(library: Library, *, workstation: str = "") -> Generator[None, None, dict[str, Any]]:
    """{"projects": {followed project: its folder}, "files": {path: [bytes read, size, tail]} for
    the sessions of `workstation`, if one is given}.
    """
    columns = (SESSION.c.file, SESSION.c.file_offset, SESSION.c.file_size, SESSION.c.file_tail)
    with library.memory.store.database.read() as connection:
        query = connection.execute(select(FOLLOWED.c.project, FOLLOWED.c.path))
        projects = {row.project: row.path for row in query}
        files_query = select(*columns).where(SESSION.c.workstation == workstation)
        rows = connection.execute(files_query).all() if workstation else []
    # the reader has time: index pending exchanges, in slices
    yield from library.memory.exchange_index.follow()
    return {"projects": projects, "files": {row[0]: list(row[1:]) for row in rows if row[0]}}


def take_session(library: Library, *, portion: dict[str, Any]) -> Generator[None, None, dict[str, Any]]:
    """Store a portion of a session, in slices; see `intake.take`."""
    taking, memory = read_incoming_portion(portion, library.project), library.memory
    with memory.store.transaction() as records:
        key = memory.store.database.key()
        answer, rows = take(records, taking, key)
        answer["notes"] = 0 if answer.get("forgotten") else store_notes(records, taking, rows, key)
    memory.follow()
    yield
    yield from memory.exchange_index.follow()
    return answer


class FollowedProjects:
    """Records the projects from which tools of memory were called, and their folders: their
    sessions are read, and a new clone finds its sibling.
    """

    def __init__(self) -> None:
        self._store: Store | None = None
        self._folders: dict[str, str] = {}

    def remember(self, library: Library, project: str, place: str = "") -> None:
        """Store a project once, and again if its folder was unknown or is gone."""
        store = library.memory.store
        if self._store is not store:
            with store.database.read() as connection:
                rows = connection.execute(select(FOLLOWED.c.project, FOLLOWED.c.path))
                self._folders = {row.project: row.path for row in rows}
            self._store = store
        folder = self._folders.get(project)
        if folder is None:
            values = {"project": project, "path": place, "created_at": library.memory.now()}
            with store.database.write() as connection:
                query = select(FOLLOWED.c.project).where(FOLLOWED.c.project == project)
                if connection.execute(query).first() is None:  # another machine may have stored it
                    connection.execute(insert(FOLLOWED), values)
        elif place and place != folder and not (folder and Path(folder).is_dir()):
            with store.database.write() as connection:
                of_project = FOLLOWED.c.project == project
                connection.execute(update(FOLLOWED).where(of_project).values(path=place))
        else:
            return
        self._folders[project] = place
