"""Operations on sessions: search and list for everybody, progress and intake for their reader."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update

from cortex.memory.library import Library
from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import FOLLOWED, SESSION
from cortex.memory.team.moved_projects import join_moved, mark_of
from cortex.memory.transcripts.consent import NO, YES, consent, give
from cortex.memory.transcripts.intake import read_incoming_portion, take
from cortex.memory.transcripts.proposing.handover import hand_over
from cortex.memory.transcripts.proposing.rules import store_notes
from cortex.memory.transcripts.search import exchange_search


def search_sessions(library: Library, *, query: str, limit: int = 10, offset: int = 0) -> dict[str, Any]:
    """Sessions with an exchange that matches the query, each with its best exchange; without a
    query all of them, the newest first.
    """
    if not query.strip():
        return list_sessions(library, limit=limit, offset=offset) | {"query": query}
    memory = library.memory
    projects = memory.projects.all_of(library.project)
    answer = exchange_search.search(
        memory.store, memory.exchange_index, query, projects, limit=limit, offset=offset
    )
    return answer | _message(library)


def list_sessions(
    library: Library, *, workstation_id: str = "", project_id: str = "", limit: int = 20, offset: int = 0
) -> dict[str, Any]:
    """Sessions of this project, of `project_id`, or for "all" of all, the newest first."""
    memory = library.memory
    project = "" if project_id == "all" else memory.projects.home_of(project_id)
    projects = memory.projects.all_of(project if project_id else library.project)
    answer = exchange_search.list_rows(memory.store, projects, limit, offset, workstation_id)
    return answer | _message(library)


def _message(library: Library) -> dict[str, str]:
    sentence = hint(library)
    return {"message": sentence} if sentence else {}


def followed(
    library: Library, *, workstation: str = "", unread: dict[str, int] | None = None
) -> Generator[None, None, dict[str, Any]]:
    """{"projects": {followed project: its folder}, "since": {project: the moment from which it is
    followed}, "files": {path: [bytes read, size, tail]} for the sessions of `workstation`, if one
    is given}. `unread`: project → number of earlier sessions that the reader left out.
    """
    if unread is not None:
        library.memory.unread_sessions = unread
    columns = (SESSION.c.file, SESSION.c.file_offset, SESSION.c.file_size, SESSION.c.file_tail)
    with library.memory.store.database.read() as connection:
        query = select(FOLLOWED.c.project, FOLLOWED.c.path, FOLLOWED.c.created_at)
        rows = connection.execute(query).all()
        projects = {row.project: row.path for row in rows}
        since = {row.project: row.created_at for row in rows}
        files_query = select(*columns).where(SESSION.c.workstation == workstation)
        places = connection.execute(files_query).all() if workstation else []
    # the reader has time: index pending exchanges, in slices
    yield from library.memory.exchange_index.follow()
    files = {row[0]: list(row[1:]) for row in places if row[0]}
    return {"projects": projects, "since": since, "files": files}


def take_session(library: Library, *, portion: dict[str, Any]) -> Generator[None, None, dict[str, Any]]:
    """Store a portion of a session, in slices; see `intake.take`."""
    taking, memory = read_incoming_portion(portion, library.project), library.memory
    with memory.store.transaction() as records:
        key = memory.store.database.key()
        answer, rows = take(records, taking, key)
        if answer.get("forgotten") or not answer["taken"]:
            answer["notes"] = 0
        else:
            answer["notes"] = store_notes(records, taking, rows, key)
            hand_over(records, taking, key, due=False)
    memory.follow()
    yield
    yield from memory.exchange_index.follow()
    return answer


def bring_up_to_date(library: Library, *, portion: dict[str, Any]) -> dict[str, Any]:
    """Write the hand-over of a session that ended, rests, or is compacted: {"changed"}. `portion`:
    its last one.
    """
    taking, memory = read_incoming_portion(portion, library.project), library.memory
    with memory.store.transaction() as records:
        changed = hand_over(records, taking, memory.store.database.key(), due=True)
    memory.follow()
    return {"changed": changed}


class FollowedProjects:
    """Records the projects from which tools of memory were called, and their folders: their
    sessions are read, and a new clone finds its sibling.
    """

    def __init__(self) -> None:
        self._store: Store | None = None
        self._folders: dict[str, str] = {}
        self._marks: dict[str, str] = {}
        #: projects with the places that were looked at
        self._seen: set[tuple[str, str]] = set()

    def folder_of(self, project: str) -> str:
        """The folder of a project, "" if it is unknown."""
        return self._folders.get(project, "")

    def remember(self, library: Library, project: str, place: str = "") -> None:
        """Store a project once, and again if its folder was unknown, is gone, or has another git
        folder. A new one whose git folder was that of another project gets its notes.
        """
        store = library.memory.store
        if self._store is not store:
            with store.database.read() as connection:
                rows = connection.execute(select(FOLLOWED.c.project, FOLLOWED.c.path, FOLLOWED.c.git)).all()
                self._folders = {row.project: row.path for row in rows}
                self._marks = {row.project: row.git for row in rows}
                self._seen = set()
            self._store = store
        if (project, place) in self._seen:
            return
        folder = self._folders.get(project)
        moved = bool(place and place != folder and not (folder and Path(folder).is_dir()))
        path = place if folder is None or moved else folder
        mark = mark_of(path)
        if folder is None:
            values = {"project": project, "path": path, "git": mark, "created_at": library.memory.now()}
            with store.database.write() as connection:
                query = select(FOLLOWED.c.project).where(FOLLOWED.c.project == project)
                if connection.execute(query).first() is None:  # another machine may have stored it
                    connection.execute(insert(FOLLOWED), values)
            join_moved(library, project, path, mark)
        elif moved or (mark and mark != self._marks.get(project)):
            with store.database.write() as connection:
                of_project = FOLLOWED.c.project == project
                connection.execute(update(FOLLOWED).where(of_project).values(path=path, git=mark))
        self._folders[project], self._marks[project] = path, mark
        self._seen.add((project, place))


def past_sessions(library: Library, *, answer: str = "") -> dict[str, Any]:
    """{"past_sessions": the answer, "unread": number of earlier sessions of this project that wait
    for it}. `answer`: YES or NO, to store it. The setting `memory.sessions: all` is a YES.
    """
    folder = library.memory.store.database.folder
    if answer:
        give(folder, answer)
    reads_all = library.memory.upkeep.settings.sessions == "all"
    return {"past_sessions": YES if reads_all else consent(folder), "unread": unread(library)}


def unread(library: Library) -> int:
    """The number of earlier sessions of the project that wait for an answer."""
    counts, projects = library.memory.unread_sessions, library.memory.projects.all_of(library.project)
    return sum(counts[project] for project in projects or counts if project in counts)


def hint(library: Library) -> str:
    """One sentence about unread sessions; "" for none, and after a person said no."""
    count = unread(library)
    if not count or consent(library.memory.store.database.folder) == NO:
        return ""
    sessions = f"{count} earlier {'session' if count == 1 else 'sessions'}"
    return (
        f"{sessions} of this project, from before memory was first used in it, are not read. A person can "
        "have them read with `cortex memory past-sessions yes`."
    )
