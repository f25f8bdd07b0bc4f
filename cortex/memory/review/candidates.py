"""Candidates: sentences from sessions that rules propose as notes. A person takes or drops them;
no briefing and no recall has their text.

They are rows of the store, so they are sealed, backed up and erased with it; no export has them. A
candidate expires after 30 days. One that was dropped or expired leaves a keyed hash, so that it is
not proposed again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, and_, select, update

from cortex.memory.answers import visible_text
from cortex.memory.library import Library
from cortex.memory.note import AGENTS, Note, Trust
from cortex.memory.store.records import Records
from cortex.memory.store.tables import CANDIDATE, NOTE
from cortex.memory.text import cut
from cortex.memory.times import format_optional
from cortex.memory.transcripts.proposing.pasted_messages import holds_command_or_address
from cortex.memory.transcripts.proposing.proposals import KEPT_MS, Proposal
from cortex.system.errors import NotFound
from cortex.terms.bounds import check_page

#: candidates in one answer to a person, and to an agent; characters of one for an agent
LISTED_MAX, AGENT_MAX, AGENT_CHARS = 100, 5, 200
#: word that selects all open candidates
ALL = "all"


def _open(library: Library) -> Any:
    """The condition of open candidates of the project."""
    condition = CANDIDATE.c.state == "open"
    return and_(condition, CANDIDATE.c.project == library.project) if library.project else condition


def _rows(connection: Connection, library: Library) -> list[Row[Any]]:
    """The open candidates, the newest first, without those that became a note meanwhile."""
    query = select(CANDIDATE).where(_open(library), CANDIDATE.c.created_at >= library.memory.now() - KEPT_MS)
    rows = list(connection.execute(query.order_by(CANDIDATE.c.said_at.desc(), CANDIDATE.c.number.desc())))
    same = {row.number: _proposal(row).note().same for row in rows}
    noted = select(NOTE.c.same).where(NOTE.c.same.in_(set(same.values())), NOTE.c.state == "active")
    noted_already = set(connection.execute(noted).scalars()) if rows else set()
    return [row for row in rows if _proposal(row).version_of or same[row.number] not in noted_already]


def _proposal(row: Row[Any]) -> Proposal:
    return Proposal(**{name: getattr(row, name) for name in Proposal.__slots__})


def list_candidates(library: Library, *, limit: int = LISTED_MAX, offset: int = 0) -> dict[str, Any]:
    """{"candidates": [{"candidate": its number, "kind", "text", "at", "agent", "session",
    "exchange", "about": the note of which a file brought another version}], "count": of all,
    "next_offset" if there are more}. An agent gets at most five, cut to 200 characters, and none
    with a command or an address: "withheld" counts these.
    """
    check_page(limit, LISTED_MAX, offset)
    with library.memory.store.database.read() as connection:
        rows = _rows(connection, library)
    is_agent = library.source.channel == AGENTS
    shown = [row for row in rows if not (is_agent and holds_command_or_address(row.text))]
    reached = offset + (min(limit, AGENT_MAX) if is_agent else limit)
    page = shown[offset:reached]
    answer: dict[str, Any] = {
        "candidates": [_row(row, AGENT_CHARS if is_agent else len(row.text)) for row in page],
        "count": len(rows),
    }
    answer |= {"withheld": len(rows) - len(shown)} if len(rows) > len(shown) else {}
    return answer | ({"next_offset": reached} if reached < len(shown) else {})


def _row(row: Row[Any], chars: int) -> dict[str, Any]:
    return {
        "candidate": row.number,
        "kind": row.kind,
        "text": cut(" ".join(visible_text(row.text).split()), chars),
        "at": format_optional(row.said_at),
        "agent": row.agent,
        "session": row.origin.get("session", ""),
        "exchange": row.origin.get("exchange", 0),
    } | ({"about": row.origin["about"]} if row.origin.get("about") else {})


def hint(library: Library) -> str:
    """The sentence of a briefing about open candidates, without their text; "" for none."""
    with library.memory.store.database.read() as connection:
        count = len(_rows(connection, library))
    return (
        f"{count} {'candidate' if count == 1 else 'candidates'}: `cortex memory candidates`" if count else ""
    )


# Taking and dropping


def take_candidates(
    library: Library, *, numbers: Sequence[str | int], operation_id: str = ""
) -> dict[str, Any]:
    """Make notes of these candidates ("all" for all open ones): {"taken": [{"candidate", "number",
    "title"}]}. Raises NotFound.
    """

    def carry_out(records: Records) -> dict[str, Any]:
        taken = []
        for row in _chosen(records, library, numbers):
            note = _as_note(records, row, library.source.trust)
            of_row = update(CANDIDATE).where(CANDIDATE.c.number == row.number)
            records.connection.execute(of_row.values(state="taken", text="", note=note.number))
            taken.append({"candidate": row.number, "number": note.number})
        return {"taken": taken}

    request = {"take": list(map(str, numbers)), "project": library.project}
    answer = library.once(operation_id, "take", request, carry_out)
    notes = library.memory.store.notes_by_number([row["number"] for row in answer["taken"]])
    titles = {note.number: visible_text(note.title) for note in notes}
    return {"taken": [row | {"title": titles.get(row["number"], "")} for row in answer["taken"]]}


def _as_note(records: Records, row: Row[Any], trust: Trust) -> Note:
    """The note of a candidate: a stored one with the same title, or a new one."""
    proposed = _proposal(row).note(trust)
    if note_id := _proposal(row).version_of:
        version = records.need(note_id)
        records.change(version, replace(version, title=proposed.title, body=proposed.body))
        return version
    same = select(NOTE.c.number).where(NOTE.c.same == proposed.same, NOTE.c.state == "active")
    stored = records.get(list(records.connection.execute(same.limit(1)).scalars()))
    return stored[0] if stored else records.insert(proposed)


def drop_candidates(
    library: Library, *, numbers: Sequence[str | int], operation_id: str = ""
) -> dict[str, Any]:
    """Drop these candidates ("all" for all open ones), with their text: {"dropped": [numbers]}.
    They are not proposed again. Raises NotFound.
    """

    def carry_out(records: Records) -> dict[str, Any]:
        dropped = [row.number for row in _chosen(records, library, numbers)]
        of_rows = update(CANDIDATE).where(CANDIDATE.c.number.in_(dropped))
        records.connection.execute(of_rows.values(state="dropped", text=""))
        return {"dropped": dropped}

    request = {"drop": list(map(str, numbers)), "project": library.project}
    return library.once(operation_id, "drop", request, carry_out)


def _chosen(records: Records, library: Library, numbers: Sequence[str | int]) -> list[Row[Any]]:
    rows = {row.number: row for row in _rows(records.connection, library)}
    if list(map(str, numbers)) == [ALL]:
        return list(rows.values())
    chosen = []
    for number in dict.fromkeys(map(str, numbers)):
        if not number.isdecimal() or int(number) not in rows:
            raise NotFound(f"There is no candidate {number[:40]!r}; `cortex memory candidates` lists them.")
        chosen.append(rows[int(number)])
    return chosen


def restore_notes(library: Library, *, operation_id: str = "") -> dict[str, Any]:
    """Make all notes active again that `move_notes` archived and that nobody dropped: {"restored":
    count}.
    """

    def carry_out(records: Records) -> dict[str, Any]:
        query = select(CANDIDATE.c.note, CANDIDATE.c.number).where(
            CANDIDATE.c.note.is_not(None), CANDIDATE.c.state.in_(("open", "expired"))
        )
        if library.project:
            query = query.where(CANDIDATE.c.project == library.project)
        by_note = {row.note: row.number for row in records.connection.execute(query)}
        notes = [note for note in records.get(sorted(by_note)) if note.state == "archived"]
        for note in notes:
            records.change(note, replace(note, state="active"))
        numbers = [by_note[note.number] for note in notes]
        of_rows = update(CANDIDATE).where(CANDIDATE.c.number.in_(numbers))
        records.connection.execute(of_rows.values(state="taken", text=""))
        return {"restored": len(notes)}

    return library.once(operation_id, "restore", {"restore": library.project}, carry_out)
