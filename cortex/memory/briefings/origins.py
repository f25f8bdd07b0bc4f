"""The origin of notes in briefings: notes of an import are in none until a person accepts them, and
those that an agent wrote for other projects are shown with their origin, and printed by no hook.
"""

from dataclasses import replace

from cortex.memory.answers import visible_text
from cortex.memory.find.catalog import Catalog
from cortex.memory.note import Note
from cortex.system.arrays import Array


def briefable(catalog: Catalog, project: str, *, by_hook: bool) -> Array:
    """The notes that a briefing of the project may have: bool [room]."""
    allowed: Array = ~catalog.has_trust("import")
    if by_hook:
        of_project = catalog.is_of(project) & ~catalog.has_trust("other") if project else False
        allowed &= catalog.has_trust("user") | of_project
    return allowed


def with_origin(note: Note, project: str) -> Note:
    """The note, with its origin in the title if an agent wrote it for another project than its
    own.
    """
    source = note.source
    is_from_elsewhere = source.trust == "other" or (
        source.trust != "user" and project and note.project != project
    )
    if not is_from_elsewhere:
        return note
    origin = str(note.metadata.get("from_project") or note.project or "another project")
    by = " by ".join(filter(None, (origin, source.agent)))
    return replace(note, title=f"{note.title} (from {visible_text(by)})")
