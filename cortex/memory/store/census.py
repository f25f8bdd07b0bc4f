"""Counts of notes and edges by kind and state, of all projects or of one."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, func, or_, select, true

from cortex.memory.store.tables import EDGE, NOTE


def visible_to(project: str, note: Any = NOTE) -> ColumnElement[bool]:
    """The condition of the notes that a project sees, "" for all. `note`: the table or an alias."""
    return or_(note.c.project == project, note.c.scope == "global") if project else true()


def count(connection: Connection, project: str) -> dict[str, Any]:
    """{"notes", "edges", "by_kind", "by_state", "oldest", "newest"}; project "": all."""
    in_scope = visible_to(project)
    live = in_scope & (NOTE.c.state != "deleted")
    kinds = connection.execute(select(NOTE.c.kind, func.count()).where(live).group_by(NOTE.c.kind)).all()
    states = connection.execute(
        select(NOTE.c.state, func.count()).where(in_scope).group_by(NOTE.c.state)
    ).all()
    span = connection.execute(
        select(func.min(NOTE.c.created_at), func.max(NOTE.c.created_at)).where(live)
    ).one()
    ends = (NOTE.alias(), NOTE.alias())
    joins = EDGE.join(ends[0], EDGE.c.source == ends[0].c.number)
    joins = joins.join(ends[1], EDGE.c.target == ends[1].c.number)
    between = select(func.count()).select_from(joins)
    for end in ends if project else ():
        between = between.where(visible_to(project, end))
    return {
        "notes": sum(total for _, total in kinds),
        "edges": connection.execute(between).scalar_one(),
        "by_kind": dict(sorted((kind, total) for kind, total in kinds)),
        "by_state": dict(sorted((state, total) for state, total in states)),
        "oldest": span[0] or 0,
        "newest": span[1] or 0,
    }
