"""A project whose folder was moved: it keeps its notes if the git folder is the same one, and else
a hint names the project that it may have been.
"""

import shlex
from pathlib import Path

from sqlalchemy import Select, func, select

from cortex.memory.library import Library
from cortex.memory.store.tables import FOLLOWED, JOINED, NOTE
from cortex.memory.team.project_joins import join
from cortex.settings.folders.identity import git_folder_of
from cortex.system.folders.birth import folder_mark


def mark_of(place: str) -> str:
    """The mark of the git folder of a folder; "" for none."""
    folder = git_folder_of(Path(place)) if place else None
    return folder_mark(folder) if folder is not None else ""


def join_moved(library: Library, project: str, place: str, mark: str) -> str:
    """Give a project the notes of the one whose git folder it has, if that one's own place lacks it
    now; return that project, or "". An archive cannot bring a device, an inode and a moment of
    birth.
    """
    if not mark:
        return ""
    store = library.memory.store
    with store.database.read() as connection:
        if connection.execute(select(JOINED.c.project).where(JOINED.c.project == project)).first():
            return ""
        query = select(FOLLOWED.c.project, FOLLOWED.c.path).where(
            FOLLOWED.c.git == mark, FOLLOWED.c.project != project
        )
        rows = connection.execute(query.order_by(FOLLOWED.c.created_at.desc())).all()
        noted = select(func.count()).where(NOTE.c.state != "deleted")
        rows = [
            row for row in rows if connection.execute(noted.where(NOTE.c.project == row.project)).scalar()
        ]
    former = next((row for row in rows if row.path != place and mark_of(row.path) != mark), None)
    if former is None:
        return ""
    request = {"moved": project, "from": former.project}
    store.once("", "link", request, lambda records: join(records, project, former.project))
    store.homes = None
    library.memory.follow()
    return str(former.project)


def folders_with_notes() -> Select[tuple[str, int]]:
    """The query of (path, number of notes) of the followed projects with notes, newest first."""
    count = select(func.count()).where(NOTE.c.project == FOLLOWED.c.project, NOTE.c.state != "deleted")
    notes = count.scalar_subquery()
    query = select(FOLLOWED.c.path, notes.label("notes")).where(FOLLOWED.c.path != "", notes > 0)
    return query.order_by(FOLLOWED.c.created_at.desc())


def moved_hint(library: Library, project: str) -> str:
    """One sentence that names a project with notes whose folder is gone and that was beside this
    one, or had its name; "" for none.
    """
    with library.memory.store.database.read() as connection:
        path = connection.execute(select(FOLLOWED.c.path).where(FOLLOWED.c.project == project)).scalar()
        if not path:
            return ""
        rows = connection.execute(folders_with_notes()).all()
    here = Path(path)
    gone = [row for row in rows if row.path != path and not Path(row.path).exists()]
    near = [row for row in gone if Path(row.path).parent == here.parent or Path(row.path).name == here.name]
    if not near:
        return ""
    former = near[0]
    counted = f"{former.notes} {'note' if former.notes == 1 else 'notes'}"
    return (
        f"This folder has no notes, but {former.path}, which is gone, has {counted}. If it was moved here, a person can "
        f"join them: `cortex memory link {shlex.quote(former.path)}`, in this folder."
    )
