"""Runs the operations of `cortex.memory.table` for tools, commands and programs: each is one typed
function over the library. The transport is elsewhere.
"""

import functools
import importlib
import inspect
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
from sqlalchemy import select

from cortex.memory.emptiness import SEARCHED, say_next
from cortex.memory.library import Library
from cortex.memory.note import AGENTS, KIND_OF_TYPE, KINDS, Source
from cortex.memory.observations.selection import split_values
from cortex.memory.observations.table import arguments_of, takes_number
from cortex.memory.review.outdated_rows import mark_outdated
from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import NOTE
from cortex.memory.table import ROWS, Row
from cortex.memory.team import clones
from cortex.memory.times import is_period, local_zone
from cortex.system.errors import BadRequest
from cortex.terms.arguments import parse_fault, struct_of
from cortex.terms.observations import PREFIX
from cortex.terms.text.secrets import remove_secrets
from cortex.terms.text.suggestions import hint_for

#: the argument that numbers a write; it belongs to the request
_OPERATION_ID = "operation_id"
#: the value of `project` that selects all projects
ALL = "all"

#: long work is done in slices, between which other requests are answered
Slices = Generator[None, None, dict[str, Any]]
Function = Callable[..., dict[str, Any] | list[dict[str, Any]] | Slices]
#: possible keys of an answer's hits
_HIT_KEYS = ("results", "items", "observations", "explanations", "candidates", "patterns", "relations")
#: end of the identity of a project's folder
_IDENTITY = re.compile(r"-[0-9a-f]{16}\Z")
#: arguments that filter by time
_DATES = ("as_of", "since", "until", "dateStart", "dateEnd", "date_start", "date_end")


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table with its function. `takes_number`: it takes an operation id, else it can
    be repeated with the same result.
    """

    name: str
    row: Row
    function: Function
    arguments: type[msgspec.Struct]
    takes_number: bool

    @property
    def writes(self) -> bool:
        return self.row.writes

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
    if operation.row.command and source is not None and source.channel == AGENTS:
        raise BadRequest(
            f"Only people may do this, with the command `cortex memory {operation.row.command}`."
        )
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
        if {"results", "items"} & answer.keys() and (proposed := clones.proposal(view)):
            answer.setdefault("message", proposed)
        answer.setdefault("message", say_next(view, _key_of_rows(answer), checked))
    elif isinstance(answer, dict) and not operation.writes:
        answer = mark_outdated(view, answer, checked.get("as_of") or 0)
    if checked.get("query") and isinstance(answer, dict):
        _log(view, operation.name.removeprefix(PREFIX), checked["query"], answer, began)
    return answer


def _is_empty(answer: Mapping[str, Any]) -> bool:
    """Whether an answer with hits has none, and no sentence about it."""
    hits = [answer[name] for name in _HIT_KEYS if isinstance(answer.get(name), list)]
    return bool(hits) and not any(hits) and not answer.get("message")


def _key_of_rows(answer: Mapping[str, Any]) -> str:
    return next(name for name in _HIT_KEYS if isinstance(answer.get(name), list))


def _log(library: Library, tool: str, query: str, answer: Mapping[str, Any], began: float) -> None:
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


def _operation(name: str, row: Row) -> Operation:
    module, _, attributes = row.function.partition(":")
    function: Function = attrgetter(attributes)(importlib.import_module(f"cortex.memory.{module}"))
    if row.tool:
        arguments = arguments_of(row.tool)
        return Operation(name, row, functools.partial(function, row.tool), arguments, takes_number(row.tool))
    arguments = struct_of(function, name, excluded=(_OPERATION_ID,), more=(("project", str, ""),))
    return Operation(name, row, function, arguments, _OPERATION_ID in inspect.signature(function).parameters)


#: all operations of a library, by their name on the wire
OPERATIONS: Mapping[str, Operation] = {
    name: _operation(name, row) for name, row in ROWS.items() if row.function
}


def explain_emptiness(library: Library, project: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """{"message": a sentence} for an empty answer whose filter names an unknown project, kind or
    type, because a typing error would read as "nothing known"; {} if all names are known.
    `project`: as the caller named it.
    """
    memory = library.memory
    if project and project not in (names := memory.projects.names()):
        return {"message": f"Memory has no project {project[:80]!r}{hint_for(project, names)}."}
    kinds = {*KINDS, *memory.catalog.kinds()}
    for argument, noun in (("kind", "kind"), ("obs_type", "type"), ("type", "type")):
        values = split_values(arguments.get(argument) or "")
        unknown = [value for value in values if value.lower() not in {*kinds, *SEARCHED}]
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
