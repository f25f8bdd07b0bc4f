"""Ratings of notes: each is stored, and the last one also in the note."""

from dataclasses import replace
from typing import Any

from sqlalchemy import insert

from cortex.memory.answers import visible_text
from cortex.memory.library import Library
from cortex.memory.store.records import Records
from cortex.memory.store.tables import FEEDBACK
from cortex.system.errors import BadRequest

#: a value's words
SAYINGS = {1: "useful", 0: "neither useful nor wrong", -1: "of no use"}


def rate(library: Library, *, node_id: str | int, value: int, operation_id: str = "") -> dict[str, Any]:
    """Rate a note as useful (1) or of no use (-1), or reset it (0); it counts as used. Raises
    BadRequest for another value, NotFound.
    """
    if value not in SAYINGS:
        raise BadRequest(f"value is {value}; it is 1 (useful), -1 (of no use) or 0.")
    memory = library.memory

    def carry_out(records: Records) -> dict[str, Any]:
        note = records.need(node_id)
        row = {"note": note.number, "value": value, "at": records.now}
        records.connection.execute(insert(FEEDBACK), row)
        records.change(note, replace(note, feedback=value))
        return {"number": note.number}

    request = {"rate": str(node_id), "value": value}
    number = library.once(operation_id, "rate", request, carry_out)["number"]
    memory.count_use([number])
    note = memory.store.need(number)
    return {
        "id": note.id,
        "number": number,
        "message": f"Rated as {SAYINGS[value]}: {visible_text(note.title)}",
    }
