"""A sentence for an empty answer whose filter names an unknown project, kind or type: a typing
error would read as "nothing known".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from cortex.memory.library import Library
from cortex.memory.note import KIND_OF_TYPE, KINDS
from cortex.memory.observations.selection import split_values
from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import NOTE
from cortex.terms.text.suggestions import hint_for

#: values of `type` that select no type of note
_SEARCHED = ("observations", "sessions", "prompts")


def explain_emptiness(library: Library, project: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """{"message": the sentence}, {} if all names are known. `project`: as the caller named it."""
    memory = library.memory
    if project and project not in (names := memory.projects.names()):
        return {"message": f"Memory has no project {project[:80]!r}{hint_for(project, names)}."}
    kinds = {*KINDS, *memory.catalog.kinds()}
    for argument, noun in (("kind", "kind"), ("obs_type", "type"), ("type", "type")):
        values = split_values(arguments.get(argument) or "")
        unknown = [value for value in values if value.lower() not in {*kinds, *_SEARCHED}]
        if not unknown:
            continue
        types = kinds if noun == "kind" else {*kinds, *KIND_OF_TYPE, *_stored_types(memory.store)}
        for value in unknown:
            if value not in types:
                return {"message": f"No note has the {noun} {value[:40]!r}{hint_for(value, sorted(types))}."}
    return {}


def _stored_types(store: Store) -> list[str]:
    with store.database.read() as connection:
        return list(connection.execute(select(NOTE.c.obs_type).distinct()).scalars())
