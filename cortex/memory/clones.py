"""The hint that a folder without notes may be a clone of a project that has some. It only proposes
a link: a stranger's archive can claim any origin.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from cortex.memory import acceptance, candidates
from cortex.memory.briefing import TOKENS
from cortex.memory.closed_notes import closed_hint
from cortex.memory.library import Library
from cortex.memory.moved_projects import moved_hint
from cortex.memory.tables import FOLLOWED, NOTE
from cortex.settings.identity import origin_of

#: projects whose repositories are compared, the latest first: 20 µs each
LOOKED_AT = 200


def briefing(
    library: Library, agent_id: str = "default", *, compact: bool = False, tokens: int = TOKENS
) -> dict[str, Any]:
    """Return `Library.briefing`, followed by the hints for a person: a project that this one may
    be a clone of, notes that upkeep closed, and candidates.
    """
    answer = library.briefing(agent_id, compact=compact, tokens=tokens)
    return {"briefing": "\n\n".join((answer["briefing"], *hints(library)))}


def hints(library: Library) -> list[str]:
    """The hints below a briefing: no text of a note."""
    return [
        hint
        for hint in (
            proposal(library),
            closed_hint(library),
            candidates.hint(library),
            acceptance.hint(library),
        )
        if hint
    ]


def proposal(library: Library) -> str:
    """Return one sentence that names a project with notes and the same git origin as this project,
    which has none, or a project whose folder was moved here; "" when there is neither.
    """
    project = library.project
    if not project:
        return ""
    with library.memory.store.database.read() as connection:
        if connection.execute(select(NOTE.c.number).where(NOTE.c.project == project).limit(1)).first():
            return ""
        path = connection.execute(select(FOLLOWED.c.path).where(FOLLOWED.c.project == project)).scalar()
        origin = origin_of(Path(path)) if path else ""
        if not origin:
            return moved_hint(library, project)
        count = select(func.count()).where(NOTE.c.project == FOLLOWED.c.project, NOTE.c.state != "deleted")
        notes = count.scalar_subquery()
        query = select(FOLLOWED.c.path, notes.label("notes")).where(FOLLOWED.c.path != "", notes > 0)
        others = connection.execute(query.order_by(FOLLOWED.c.created_at.desc()).limit(LOOKED_AT)).all()
    sibling = next((other for other in others if origin_of(Path(other.path)) == origin), None)
    if sibling is None:
        return moved_hint(library, project)
    return (
        f"This folder has no notes, but {sibling.path} has {sibling.notes}, and both came from {origin}. If this is a clone "
        f"of it, a person can make their notes one: `cortex memory link {shlex.quote(sibling.path)}`, in this folder."
    )
