"""The history of notes: earlier texts, reasons of edges, operations that can be undone, and the
exchanges of a session. Reads only.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, or_, select

from cortex.memory.answers import title_rows, visible_text
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.store.census import visible_to
from cortex.memory.store.records import MANY
from cortex.memory.store.rows import note_of_revision
from cortex.memory.store.tables import EXCHANGE, NOTE, OPERATION, SESSION
from cortex.memory.times import format_moment, format_optional
from cortex.system.errors import NotFound
from cortex.terms.bounds import check_page

#: the newest operations that are searched for those of a note or a project; the most rows of an
#: answer
LOOKED_AT, LIMIT_MAX = 500, 100
#: notes listed for an operation
NODES_MAX = 5
#: revisions listed for a note, the newest first
REVISIONS_MAX = 100
#: exchanges of one page of a session, and characters of each text
EXCHANGES_MAX, TEXT_CHARS_MAX = 50, 8_000
#: operations that cannot be undone, or were undone
_NOT_UNDOABLE = ("undo", "undone", "git")
#: fields of a note with listed changes → their names in tools
_FIELDS = {
    name: "tags" if name == "labels" else name
    for name in (
        "title subtitle body facts kind obs_type labels files importance scope project state topic occurred_at "
        "valid_until feedback"
    ).split()
}
_MOMENTS = frozenset(("occurred_at", "valid_until"))


def history(library: Library, *, node_id: str | int = "", limit: int = 20) -> dict[str, Any]:
    """For a note: {"id", "number", "title", "revisions": [{"until", "changed": {field: [before,
    after]}}], the newest first, "edges": [{"id", "relation", "from", "to", "weight", "detection",
    "reason", "created_at", "other": the note at its other end}]}. Always "operations": [{"id",
    "what", "at", "nodes", "more"}], the newest first, that can be undone: of the note, or without a
    note of the project. Raises NotFound, and BadRequest for a limit out of range.
    """
    check_page(limit, LIMIT_MAX)
    store = library.memory.store
    if not node_id:
        return {"operations": _operations(library, None, limit)}
    note = store.need(node_id)
    [title_row] = title_rows([note])
    return title_row | {
        "revisions": _revisions(note, store.revisions(note.number)),
        "edges": _edges(library, note),
        "operations": _operations(library, note.number, limit),
    }


def _revisions(note: Note, revisions: Sequence[tuple[int, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The changed fields of each revision, the newest first; revisions that only changed a counter
    are left out.
    """
    forms = [note_of_revision(fields) for _, fields in revisions] + [note]
    rows = [
        {"until": format_moment(until), "changed": changed}
        for (until, _), before, after in zip(revisions, forms, forms[1:], strict=False)
        if (changed := _changed(before, after))
    ]
    return rows[: -REVISIONS_MAX - 1 : -1]


def _changed(before: Note, after: Note) -> dict[str, list[Any]]:
    return {
        name: [_plain(field, getattr(before, field)), _plain(field, getattr(after, field))]
        for field, name in _FIELDS.items()
        if getattr(before, field) != getattr(after, field)
    }


def _plain(field: str, value: Any) -> Any:
    if field in _MOMENTS:
        return format_optional(value)
    if isinstance(value, tuple):
        return [visible_text(entry) for entry in value]
    return visible_text(value) if isinstance(value, str) else value


def _edges(library: Library, note: Note) -> list[dict[str, Any]]:
    store = library.memory.store
    edges = store.edges_of([note.number])
    ends = [edge.target if edge.source == note.number else edge.source for edge in edges]
    others = {neighbour.number: neighbour for neighbour in store.notes_by_number(ends)}
    ids = {number: neighbour.id for number, neighbour in others.items()} | {note.number: note.id}
    return [
        {
            "id": edge.id,
            "relation": edge.relation,
            "from": ids[edge.source],
            "to": ids[edge.target],
            "weight": edge.weight,
            "detection": edge.detection,
            "reason": visible_text(edge.reason),
            "created_at": format_optional(edge.created_at),
            "other": title_rows([others[end]])[0] | {"state": others[end].state},
        }
        for edge, end in zip(edges, ends, strict=True)
        if end in others
    ]


def _operations(library: Library, number: int | None, limit: int) -> list[dict[str, Any]]:
    """The newest operations that changed the note, or any note that the project sees."""
    store = library.memory.store
    query = select(OPERATION.c.id, OPERATION.c.what, OPERATION.c.did, OPERATION.c.created_at)
    query = query.where(OPERATION.c.what.not_in(_NOT_UNDOABLE))
    query = query.order_by(OPERATION.c.created_at.desc(), OPERATION.c.id.desc()).limit(LOOKED_AT)
    with store.database.read() as connection:
        rows = connection.execute(query).all()
    edge_numbers = {entry[1] for row in rows for entry in row.did if entry[0] == "edge"}
    ends = {edge.number: (edge.source, edge.target) for edge in store.edges_by_number(sorted(edge_numbers))}
    touched = {row.id: _touched_notes(row.did, ends) for row in rows}
    visible = _visible(library, {note_number for numbers in touched.values() for note_number in numbers})
    matches = [
        (row, [note_number for note_number in touched[row.id] if note_number in visible])
        for row in rows
        if (
            any(note_number in visible for note_number in touched[row.id])
            if number is None
            else number in touched[row.id]
        )
    ][:limit]
    notes = store.notes_by_number(
        [note_number for _, numbers in matches for note_number in numbers[:NODES_MAX]]
    )
    by_number = {note.number: note for note in notes}
    return [
        {
            "id": row.id,
            "what": row.what,
            "at": format_moment(row.created_at),
            "nodes": title_rows(
                by_number[note_number] for note_number in numbers[:NODES_MAX] if note_number in by_number
            ),
            "more": max(0, len(numbers) - NODES_MAX),
        }
        for row, numbers in matches
    ]


def _touched_notes(did: Iterable[Sequence[Any]], ends: Mapping[int, tuple[int, int]]) -> list[int]:
    """Numbers of notes that an operation made, changed, connected or disconnected, each once."""
    numbers = dict[int, None]()
    for table, which, *_ in did:
        if table == "note":
            numbers[which] = None
        elif table == "edge":
            numbers |= dict.fromkeys(ends.get(which, ()))
        elif table == "parted":
            numbers |= dict.fromkeys((which["source"], which["target"]))
    return list(numbers)


def _visible(library: Library, numbers: set[int]) -> set[int]:
    """The notes that the project sees; without a project all."""
    if not library.project:
        return numbers
    listed, visible = list(numbers), set[int]()
    with library.memory.store.database.read() as connection:
        for at in range(0, len(listed), MANY):
            batch = NOTE.c.number.in_(listed[at : at + MANY])
            visible |= set(
                connection.execute(select(NOTE.c.number).where(batch, visible_to(library.project))).scalars()
            )
    return visible


def read_session(library: Library, *, session_id: str, offset: int = 0, limit: int = 20) -> dict[str, Any]:
    """A session, by its id or the name that its program gave it: {"id", "source_id", "kind",
    "project", "git_branch", "started_at", "last_msg_at", "exchange_count", "exchanges":
    [{"exchange", "at", "asked", "said", "tools", "files", "truncated"}], "notes": those made from
    it, "next_offset" if there are more}. Raises NotFound, and BadRequest for numbers out of range.
    """
    check_page(limit, EXCHANGES_MAX, offset)
    is_session = or_(SESSION.c.id == session_id, SESSION.c.source_id == session_id)
    projects = library.memory.projects.all_of(library.project)
    query = select(SESSION).where(is_session, *([SESSION.c.project.in_(projects)] if any(projects) else []))
    with library.memory.store.database.read() as connection:
        row = connection.execute(query.order_by(SESSION.c.last_at.desc()).limit(1)).first()
        if row is None:
            raise NotFound(f"There is no session {session_id[:80]!r}; list_sessions lists them.")
        page = select(EXCHANGE).where(EXCHANGE.c.session == row.number).order_by(EXCHANGE.c.place)
        exchanges = connection.execute(page.limit(limit).offset(offset)).all()
        count = select(func.count()).where(EXCHANGE.c.session == row.number)
        total: int = connection.execute(count.select_from(EXCHANGE)).scalar_one()
        notes_query = select(NOTE.c.number).where(NOTE.c.session == row.source_id, NOTE.c.state != "deleted")
        numbers = list(connection.execute(notes_query.order_by(NOTE.c.number).limit(LIMIT_MAX)).scalars())
    reached = offset + len(exchanges)
    return {
        "id": row.id,
        "source_id": row.source_id,
        "kind": row.kind,
        "project": row.project,
        "git_branch": row.branch,
        "started_at": format_optional(row.started_at),
        "last_msg_at": format_optional(row.last_at),
        "exchange_count": total,
        "exchanges": [_exchange(exchange) for exchange in exchanges],
        "notes": title_rows(library.memory.store.notes_by_number(sorted(_visible(library, set(numbers))))),
    } | ({"next_offset": reached} if reached < total else {})


def _exchange(row: Any) -> dict[str, Any]:
    texts = {"asked": visible_text(row.user_text), "said": visible_text(row.assistant_text)}
    long = any(len(text) > TEXT_CHARS_MAX for text in texts.values())
    return {
        "exchange": row.place,
        "at": format_optional(row.at),
        **{name: text[:TEXT_CHARS_MAX] for name, text in texts.items()},
        "tools": dict(row.tools),
        "files": {name: list(paths) for name, paths in row.files.items() if paths and name != "plan"},
    } | ({"truncated": True} if long else {})
