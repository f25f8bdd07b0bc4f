"""The operation `store` of tools and programs: a new note, or a change of a stored one."""

from typing import Any

from cortex.memory.code_places.places import files_with_anchors
from cortex.memory.library import Library
from cortex.memory.note import Scope, State
from cortex.system.errors import BadRequest


def store_or_edit(
    library: Library,
    *,
    title: str | None = None,
    body: str | None = None,
    kind: str | None = None,
    tags: tuple[str, ...] | None = None,
    importance: float | None = None,
    facts: tuple[str, ...] | None = None,
    files: tuple[str, ...] | None = None,
    anchors: tuple[str, ...] | None = None,
    anchored: tuple[str, ...] = (),
    spoken: dict[str, str] | None = None,
    metadata: dict[str, Any] | None = None,
    obs_type: str | None = None,
    scope: Scope | None = None,
    occurred_at: float | str | None = None,
    supersedes: tuple[str | int, ...] = (),
    topic: str | None = None,
    id: str | int = "",  # noqa: A002 - its name on the wire
    state: State | None = None,
    operation_id: str = "",
) -> dict[str, Any]:
    """Store a new note, or change the note `id`. `anchored`: the files of the anchors, which become
    files of the note; `spoken`: file or anchor → digest of its code.
    """
    fields = {
        "title": title,
        "body": body,
        "kind": kind,
        "tags": tags,
        "importance": importance,
        "facts": facts,
        "files": files_with_anchors(library, id, files, anchored),
        "anchors": anchors,
        "spoken": spoken,
        "metadata": metadata,
        "obs_type": obs_type,
        "scope": scope,
        "occurred_at": occurred_at,
        "topic": topic,
    }
    changes: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    if id:
        return library.edit(id, state=state, supersedes=supersedes, operation_id=operation_id, **changes)
    if state not in (None, "active"):
        raise BadRequest(f"A new note is active; pass the `id` of a stored note to make it {state}.")
    title = changes.pop("title", "")
    return library.store(title, **changes, supersedes=supersedes, operation_id=operation_id)
