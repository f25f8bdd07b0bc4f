"""The hint that a folder without notes may be a clone of a project that has some. It only proposes
a link: a stranger's archive can claim any origin.
"""

import shlex
from pathlib import Path
from typing import Any

from sqlalchemy import select

from cortex.memory.briefings import handovers
from cortex.memory.briefings.briefing import TOKENS
from cortex.memory.library import Library
from cortex.memory.library.queries import TOKENS_MIN
from cortex.memory.review import acceptance, candidates
from cortex.memory.review.closed_notes import closed_hint
from cortex.memory.store.tables import FOLLOWED, NOTE
from cortex.memory.team.moved_projects import folders_with_notes, moved_hint
from cortex.settings.data import say_other_store
from cortex.settings.folders.identity import origin_of
from cortex.terms.budget import TOKEN_BYTES

#: projects whose repositories are compared, the latest first: 20 µs each
LOOKED_AT = 200


def briefing(
    library: Library, agent_id: str = "default", *, compact: bool = False, tokens: int = TOKENS
) -> dict[str, Any]:
    """Return `Library.briefing` with the hand-over of the caller's work tree and branch, within the
    tokens, followed by the hints for a person: a project that this one may be a clone of, notes
    that upkeep closed, and candidates.
    """
    handed_over, is_old = handovers.latest(library)
    chars = len(f"{handed_over}\n\n") if handed_over else 0
    room = max(TOKENS_MIN, tokens - chars // TOKEN_BYTES) if tokens >= TOKENS_MIN else tokens
    text = library.briefing(agent_id, compact=compact, tokens=room)["briefing"]
    parts = (text, handed_over) if is_old else (handed_over, text)
    return {"briefing": "\n\n".join(filter(None, (*parts, *hints(library))))}


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
    which has none, or a project whose folder was moved here, or another store; "" for none of them.
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
            return _elsewhere(library, project)
        others = connection.execute(folders_with_notes().limit(LOOKED_AT)).all()
    sibling = next((other for other in others if origin_of(Path(other.path)) == origin), None)
    if sibling is None:
        return _elsewhere(library, project)
    return (
        f"This folder has no notes, but {sibling.path} has {sibling.notes}, and both came from {origin}. If this is a clone "
        f"of it, a person can make their notes one: `cortex memory link {shlex.quote(sibling.path)}`, in this folder."
    )


def _elsewhere(library: Library, project: str) -> str:
    """Return a sentence on a moved folder with notes, or on the store that CORTEX_HOME left."""
    database = library.memory.store.database
    moved = moved_hint(library, project)
    return moved or ("" if database.shared else say_other_store(database.folder))
