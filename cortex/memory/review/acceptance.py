"""Acceptance: a person takes notes of imports and of agents of other projects as their own; until
then no briefing, or no hook, has them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, func, select

from cortex.memory.answers import title_rows
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.store.census import visible_to
from cortex.memory.store.records import Records
from cortex.memory.store.tables import NOTE
from cortex.terms.bounds import check_page

#: trusts of notes that wait for a person
WAITING = ("import", "other")
#: notes in one answer
LISTED_MAX = 100
#: word that selects all waiting notes
ALL = "all"


def waiting(library: Library, *, limit: int = LISTED_MAX, offset: int = 0) -> dict[str, Any]:
    """The notes of the project that wait for a person, the newest first: {"waiting": [{"id",
    "number", "kind", "title", "trust", "agent", "from"}], "count", "next_offset" if there are
    more}.
    """
    check_page(limit, LISTED_MAX, offset)
    condition = _condition(library)
    page = select(NOTE.c.number).where(condition).order_by(NOTE.c.number.desc()).limit(limit).offset(offset)
    with library.memory.store.database.read() as connection:
        count = _count(connection, condition)
        numbers = list(connection.execute(page).scalars())
    notes = library.memory.store.notes_by_number(numbers)
    rows = [row | _origin(note) for row, note in zip(title_rows(notes), notes, strict=True)]
    reached = offset + len(rows)
    return {"waiting": rows, "count": count} | ({"next_offset": reached} if reached < count else {})


def _origin(note: Note) -> dict[str, Any]:
    origin = str(note.metadata.get("from_project") or "")
    return {"trust": note.source.trust, "agent": note.source.agent, "from": origin}


def _condition(library: Library) -> Any:
    return (NOTE.c.state == "active") & NOTE.c.trust.in_(WAITING) & visible_to(library.project)


def _count(connection: Connection, condition: Any) -> int:
    return connection.execute(select(func.count()).select_from(NOTE).where(condition)).scalar_one()


def accept(library: Library, *, numbers: Sequence[str | int], operation_id: str = "") -> dict[str, Any]:
    """Give these notes ("all" for all waiting ones) the trust of a person, in one operation that
    `undo` reverts: {"accepted": count}. Raises NotFound.
    """

    def carry_out(records: Records) -> dict[str, Any]:
        if list(map(str, numbers)) == [ALL]:
            query = select(NOTE.c.number).where(_condition(library))
            notes = records.get(list(records.connection.execute(query).scalars()))
        else:
            notes = [records.need(number) for number in numbers]
        for note in notes:
            records.change(note, replace(note, source=replace(note.source, trust="user")))
        return {"accepted": len(notes)}

    request = {"accept": list(map(str, numbers)), "project": library.project}
    return library.once(operation_id, "accept", request, carry_out)


def hint(library: Library) -> str:
    """The sentence of a briefing about waiting notes, without their text; "" for none."""
    with library.memory.store.database.read() as connection:
        count = _count(connection, _condition(library))
    if not count:
        return ""
    return f"{count} {'note' if count == 1 else 'notes'} of others wait for a person: `cortex memory accept`"
