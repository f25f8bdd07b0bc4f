"""All operations of memory, by name: each is one typed function over the library. The worker runs
them for tools, commands and programs; the transport is elsewhere.
"""

from __future__ import annotations

import functools
import inspect
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from cortex.memory.code_places.commit_notes import take_commits, unknown_commits
from cortex.memory.code_places.places import files_with_anchors, notes_by_file, spoken
from cortex.memory.code_places.unplaced import place, unplaced
from cortex.memory.library import Library
from cortex.memory.note import AGENTS, Scope, Source, State
from cortex.memory.observations.rating import rate
from cortex.memory.observations.table import arguments_of, run_observation, takes_number, writes
from cortex.memory.review import acceptance, candidates, closed_notes, note_history
from cortex.memory.team import clones
from cortex.memory.team.relocation import migrate
from cortex.memory.times import is_period, local_zone
from cortex.memory.transcripts import past_sessions, sessions
from cortex.memory.unknown_names import explain_emptiness
from cortex.memory.upkeep import run
from cortex.system.errors import BadRequest
from cortex.terms.arguments import parse_fault, struct_of
from cortex.terms.observations import PREFIX, ROWS
from cortex.terms.text.secrets import remove_secrets

#: the argument that numbers a write; it belongs to the request
_OPERATION_ID = "operation_id"
#: the value of `project` that selects all projects
ALL = "all"

#: long work is done in slices, between which other requests are answered
Slices = Generator[None, None, dict[str, Any]]
Function = Callable[..., dict[str, Any] | list[dict[str, Any]] | Slices]
#: operation of people → its command, where that has another name
_COMMANDS = {
    "erase": "forget --hard",
    "reopen": "closed --reopen",
    "past_sessions": "past-sessions",
    "waiting": "accept",
} | {f"{verb}_candidates": f"candidates --{verb}" for verb in ("take", "drop", "restore")}
#: possible keys of an answer's hits
_HIT_KEYS = ("results", "items", "observations", "explanations")
#: end of the identity of a project's folder
_IDENTITY = re.compile(r"-[0-9a-f]{16}\Z")
#: arguments that filter by time
_DATES = ("as_of", "since", "until", "dateStart", "dateEnd", "date_start", "date_end")


@dataclass(frozen=True, slots=True)
class Operation:
    """`function`: over the library. `writes`: it changes the store. `takes_number`: it takes an
    operation id, else it can be repeated with the same result. `people`: refused to agents.
    """

    name: str
    writes: bool
    function: Function
    arguments: type[msgspec.Struct]
    takes_number: bool
    people: bool = False

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments for the function. Raises BadRequest with one sentence."""
        try:
            converted = msgspec.convert(dict(arguments), self.arguments, strict=False)
        except msgspec.ValidationError as error:
            raise BadRequest(self._explain(str(error))) from error
        return msgspec.structs.asdict(converted)

    def _explain(self, problem: str) -> str:
        fault = parse_fault(problem)
        accepted = ", ".join(self.arguments.__struct_fields__) or "nothing"
        if fault.what == "missing":
            return f"`{fault.name}` is required; {self.name} takes: {accepted}."
        if fault.what == "unknown":
            return f"There is no argument `{fault.name}`; {self.name} takes: {accepted}."
        if not fault.path:
            return f"The arguments of {self.name} cannot be used: {fault.why}."
        return f"`{fault.path}` cannot be used: {fault.why}."


def carry_out(
    library: Library,
    name: str,
    arguments: Mapping[str, Any],
    *,
    project: str = "",
    source: Source | None = None,
    operation_id: str = "",
    place: str = "",
) -> dict[str, Any] | Slices:
    """Run an operation on the notes of `project`, for `source` in the folder `place`. Each
    operation also takes an argument `project`, for another project, or ALL. A write with a known
    `operation_id` returns its first answer. Raises BadRequest for an unknown operation or argument,
    and the library's errors.
    """
    operation = OPERATIONS.get(name)
    if operation is None:
        raise BadRequest(f"Memory has no operation {name[:80]!r}; it has: {', '.join(OPERATIONS)}.")
    if operation.people and source is not None and source.channel == AGENTS:
        command = _COMMANDS.get(operation.name, operation.name)
        raise BadRequest(f"Only people may do this, with the command `cortex memory {command}`.")
    checked = operation.check(arguments)
    if operation.takes_number:
        checked[_OPERATION_ID] = operation_id
    _refuse_secrets(project=checked["project"], operation_id=operation_id)
    named = checked.pop("project")
    caller, project = project, named or project
    if project == ALL and operation.writes:
        raise BadRequest("`project` is 'all'; a note belongs to one project, or to all with scope `global`.")
    view = library.of(project="" if project == ALL else project, source=source, caller=caller, place=place)
    began = time.monotonic()
    if source is not None:
        view.memory.queries.tally.last_call_at[source.channel] = view.memory.now()
    answer = operation.function(view, **checked)
    answer = {"results": answer} if isinstance(answer, list) else answer
    if isinstance(answer, dict) and (
        days := [checked[name] for name in _DATES if is_period(checked.get(name))]
    ):
        answer["dates"] = f"{' and '.join(dict.fromkeys(days))}: in local time, {local_zone()}"
    if isinstance(answer, dict) and not operation.writes and _is_empty(answer):
        answer |= explain_emptiness(view, "" if named == ALL else named, checked)
        if "message" not in answer and "results" in answer and (proposed := clones.proposal(view)):
            answer["message"] = proposed
    if checked.get("query") and isinstance(answer, dict):
        _log(view, operation.name.removeprefix(PREFIX), checked["query"], answer, began)
    return answer


def _is_empty(answer: Mapping[str, Any]) -> bool:
    """Whether an answer with hits has none, and no sentence about it."""
    hits = [answer[name] for name in _HIT_KEYS if isinstance(answer.get(name), list)]
    return bool(hits) and not any(hits) and not answer.get("message")


def _log(library: Library, tool: str, query: str, answer: Mapping[str, Any], began: float) -> None:
    """Log the query and its number of hits."""
    rows = next((answer[name] for name in _HIT_KEYS if isinstance(answer.get(name), list)), ())
    took_ms = (time.monotonic() - began) * 1000
    memory = library.memory
    memory.queries.add(
        tool, query, project=library.project, results=len(rows), took_ms=took_ms, now=memory.now()
    )


def _refuse_secrets(**names: str) -> None:
    """Raise BadRequest for a secret: names are stored as they are. The identity of a folder, which
    ends in 16 hexadecimal digits, is none.
    """
    for name, text in names.items():
        kinds = [] if _IDENTITY.search(text) else remove_secrets(text)[1]
        if kinds:
            raise BadRequest(f"`{name}` holds a secret ({kinds[0]}); take another name.")


def _store(
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


def _operation(name: str, function: Function, *, writes: bool, people: bool = False) -> Operation:
    arguments = struct_of(function, name, excluded=(_OPERATION_ID,), more=(("project", str, ""),))
    has_operation_id = _OPERATION_ID in inspect.signature(function).parameters
    return Operation(name, writes, function, arguments, has_operation_id, people)


def _observation_operation(name: str) -> Operation:
    """The operation of an observation tool."""
    function = functools.partial(run_observation, name)
    return Operation(f"{PREFIX}{name}", writes(name), function, arguments_of(name), takes_number(name))


#: all operations, by their name on the wire
OPERATIONS: Mapping[str, Operation] = {
    operation.name: operation
    for operation in (
        _operation("store", _store, writes=True),
        _operation("search", Library.search, writes=False),
        _operation("recall", Library.recall, writes=False),
        _operation("timeline", Library.timeline, writes=False),
        _operation("briefing", clones.briefing, writes=False),
        _operation("traverse", Library.traverse, writes=False),
        _operation("relate", Library.relate, writes=True),
        _operation("node", Library.node, writes=False),
        _operation("stats", Library.stats, writes=False),
        _operation("changes", Library.changes, writes=False),
        _operation("forget", Library.forget, writes=True),
        _operation("undo", Library.undo, writes=True),
        _operation("link", Library.link, writes=True, people=True),
        _operation("closed", closed_notes.closed, writes=True, people=True),
        _operation("candidates", candidates.list_candidates, writes=False),
        _operation("take_candidates", candidates.take_candidates, writes=True, people=True),
        _operation("drop_candidates", candidates.drop_candidates, writes=True, people=True),
        _operation("restore_candidates", candidates.restore_notes, writes=True, people=True),
        _operation("waiting", acceptance.waiting, writes=False, people=True),
        _operation("accept", acceptance.accept, writes=True, people=True),
        _operation("reopen", closed_notes.reopen, writes=True, people=True),
        _operation("erase", Library.erase, writes=True, people=True),
        _operation("run_consolidation", run.run_consolidation, writes=True),
        _operation("trigger_maintenance", run.trigger_maintenance, writes=True),
        _operation("get_maintenance_stats", run.get_maintenance_stats, writes=False),
        _operation("suggest_consolidations", run.suggest_consolidations, writes=False),
        _operation("get_patterns", run.get_patterns, writes=False),
        _operation("import", Library.import_file, writes=True, people=True),
        _operation("export", Library.export_file, writes=False, people=True),
        _operation("export_markdown", Library.export_markdown, writes=False, people=True),
        _operation("backup", Library.back_up, writes=False, people=True),
        _operation("migrate", migrate, writes=True, people=True),
        _operation("history", note_history.history, writes=False),
        _operation("read_session", note_history.read_session, writes=False),
        _operation("search_sessions", sessions.search_sessions, writes=False),
        _operation("list_sessions", sessions.list_sessions, writes=False),
        _operation("past_sessions", past_sessions.past_sessions, writes=True, people=True),
        _operation("followed", sessions.followed, writes=False, people=True),
        _operation("take_session", sessions.take_session, writes=True, people=True),
        _operation("hand_over", sessions.bring_up_to_date, writes=True, people=True),
        _operation("doctor", Library.doctor, writes=False, people=True),
        _operation("spoken", spoken, writes=False),
        _operation("beside", notes_by_file, writes=False),
        _operation("unplaced", unplaced, writes=False),
        _operation("place", place, writes=True),
        _operation("unknown_commits", unknown_commits, writes=False),
        _operation("take_commits", take_commits, writes=True),
        _operation("rate", rate, writes=True),
        *map(_observation_operation, ROWS),
    )
}
