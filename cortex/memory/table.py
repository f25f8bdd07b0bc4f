"""The one table of all operations of memory: function, reads or writes, and who may call it. The
worker runs them by name; fronts read here whether a message is a write. Pure: the worker alone
imports the functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cortex.terms import observations

_LIBRARY = "library:Library"


@dataclass(frozen=True, slots=True)
class Row:
    """`function`: "module:name" below `cortex.memory`, or "" for one of the worker itself; its
    signature has the arguments. `writes`: it changes the store. `command`: `cortex memory …`, for
    an operation that is refused to agents. `tool`: the observation tool with its arguments.
    """

    function: str
    writes: bool = False
    command: str = ""
    tool: str = ""


def _for_people(function: str, command: str, *, writes: bool = True) -> Row:
    return Row(function, writes, command)


#: operation → its row, without those of the observation tools
_NOTES = {
    "store": Row("note_operation:store_or_edit", writes=True),
    "search": Row(f"{_LIBRARY}.search"),
    "recall": Row(f"{_LIBRARY}.recall"),
    "timeline": Row(f"{_LIBRARY}.timeline"),
    "briefing": Row("team.clones:briefing"),
    "traverse": Row(f"{_LIBRARY}.traverse"),
    "relate": Row(f"{_LIBRARY}.relate", writes=True),
    "node": Row(f"{_LIBRARY}.node"),
    "stats": Row(f"{_LIBRARY}.stats"),
    "changes": Row(f"{_LIBRARY}.changes"),
    "forget": Row(f"{_LIBRARY}.forget", writes=True),
    "undo": Row(f"{_LIBRARY}.undo", writes=True),
    "link": _for_people(f"{_LIBRARY}.link", "link"),
    "closed": _for_people("review.closed_notes:closed", "closed"),
    "candidates": Row("review.candidates:list_candidates"),
    "take_candidates": _for_people("review.candidates:take_candidates", "candidates --take"),
    "drop_candidates": _for_people("review.candidates:drop_candidates", "candidates --drop"),
    "restore_candidates": _for_people("review.candidates:restore_notes", "candidates --restore"),
    "waiting": _for_people("review.acceptance:waiting", "accept", writes=False),
    "accept": _for_people("review.acceptance:accept", "accept"),
    "reopen": _for_people("review.closed_notes:reopen", "closed --reopen"),
    "erase": _for_people(f"{_LIBRARY}.erase", "forget --hard"),
    "run_consolidation": Row("upkeep.run:run_consolidation", writes=True),
    "trigger_maintenance": Row("upkeep.run:trigger_maintenance", writes=True),
    "get_maintenance_stats": Row("upkeep.run:get_maintenance_stats"),
    "suggest_consolidations": Row("upkeep.run:suggest_consolidations"),
    "get_patterns": Row("upkeep.run:get_patterns"),
    "import": _for_people(f"{_LIBRARY}.import_file", "import"),
    "export": _for_people(f"{_LIBRARY}.export_file", "export", writes=False),
    "export_markdown": _for_people(f"{_LIBRARY}.export_markdown", "export_markdown", writes=False),
    "backup": _for_people(f"{_LIBRARY}.back_up", "backup", writes=False),
    "restore": _for_people("", "restore"),
    "migrate": _for_people("team.relocation:migrate", "migrate"),
    "history": Row("review.note_history:history"),
    "read_session": Row("review.note_history:read_session"),
    "search_sessions": Row("transcripts.sessions:search_sessions"),
    "list_sessions": Row("transcripts.sessions:list_sessions"),
    "past_sessions": _for_people("transcripts.sessions:past_sessions", "past-sessions"),
    "followed": _for_people("transcripts.sessions:followed", "followed", writes=False),
    "take_session": _for_people("transcripts.sessions:take_session", "take_session"),
    "hand_over": _for_people("transcripts.sessions:bring_up_to_date", "hand_over"),
    "doctor": _for_people(f"{_LIBRARY}.doctor", "doctor", writes=False),
    "spoken": Row("code_places.places:spoken"),
    "beside": Row("code_places.places:notes_by_file"),
    "unplaced": Row("code_places.places:unplaced"),
    "place": Row("code_places.places:place", writes=True),
    "unknown_commits": Row("code_places.commit_notes:unknown_commits"),
    "take_commits": Row("code_places.commit_notes:take_commits", writes=True),
    "rate": Row("observations.rating:rate", writes=True),
}
#: operation → its row
ROWS: Mapping[str, Row] = _NOTES | {
    f"{observations.PREFIX}{tool}": Row("observations.table:run_observation", row.writes, tool=tool)
    for tool, row in observations.ROWS.items()
}


def is_write(operation: str) -> bool:
    """Whether an operation changes the store; an unknown one does not."""
    return operation in ROWS and ROWS[operation].writes
