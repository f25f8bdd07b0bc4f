"""What memory is asked to do, by name: each operation is one typed function over the library. The
worker carries them out for tools, commands and programs; how a call travels is not here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec

from cortex.memory.briefing import TOKENS
from cortex.memory.library import Library
from cortex.memory.note import Direction, Scope, Source, State
from ipc.errors import BadRequest

_WHERE = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_MISSING = re.compile(r"^Object missing required field `(?P<name>[^`]+)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<name>[^`]+)`$")
#: the argument that numbers a write; it is of the request, not of what is asked
_OPERATION_ID = "operation_id"
#: the project that stands for all of them
ALL = "all"

#: what an operation comes to; long work is done in slices, between which others are answered
Slices = Generator[None, None, dict[str, Any]]
Function = Callable[..., dict[str, Any] | Slices]
#: the channel on which agents ask
_AGENTS = "mcp"


@dataclass(frozen=True, slots=True)
class Operation:
    """`writes`: it changes what is stored, and takes the number of the operation. `people`: agents
    may not ask for it.
    """

    name: str
    writes: bool
    function: Function
    arguments: type[msgspec.Struct]
    people: bool = False

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them. Raises BadRequest with one sentence."""
        try:
            made = msgspec.convert(dict(arguments), self.arguments, strict=False)
        except msgspec.ValidationError as error:
            raise BadRequest(self._explain(str(error))) from error
        return msgspec.structs.asdict(made)

    def _explain(self, problem: str) -> str:
        known = ", ".join(self.arguments.__struct_fields__) or "nothing"
        if missing := _MISSING.match(problem):
            return f"`{missing['name']}` is required; {self.name} takes: {known}."
        if unknown := _UNKNOWN.match(problem):
            return f"There is no argument `{unknown['name']}`; {self.name} takes: {known}."
        where = _WHERE.search(problem)
        if where is None:
            return f"The arguments of {self.name} cannot be used: {problem}."
        problem = problem[: where.start()]
        return f"`{where['path']}` cannot be used: {problem[:1].lower()}{problem[1:]}."


def carry_out(
    library: Library,
    name: str,
    arguments: Mapping[str, Any],
    *,
    project: str = "",
    source: Source | None = None,
    operation_id: str = "",
) -> dict[str, Any] | Slices:
    """The answer of one operation for the notes of `project`, asked by `source`. Each operation
    takes an argument `project` as well, for those of another one, or ALL.

    A write with an `operation_id` that was carried out already answers as it did then. Raises
    BadRequest for an operation or argument that does not exist, and what the library raises.
    """
    operation = OPERATIONS.get(name)
    if operation is None:
        raise BadRequest(f"Memory has no operation {name[:80]!r}; it has: {', '.join(OPERATIONS)}.")
    if operation.people and source is not None and source.channel == _AGENTS:
        raise BadRequest(f"Only people {operation.name} memory: `cortex memory {operation.name}`.")
    given = operation.check(arguments)
    if operation.writes:
        given[_OPERATION_ID] = operation_id
    project = given.pop("project") or project
    if project == ALL and operation.writes:
        raise BadRequest("`project` is 'all'; a note belongs to one project, or to all with scope `global`.")
    return operation.function(library.of(project="" if project == ALL else project, source=source), **given)


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
    metadata: dict[str, Any] | None = None,
    obs_type: str | None = None,
    scope: Scope | None = None,
    occurred_at: float | str | None = None,
    supersedes: tuple[str | int, ...] = (),
    id: str | int = "",  # noqa: A002 - its name on the wire
    state: State | None = None,
    operation_id: str = "",
) -> dict[str, Any]:
    """A new note, or with `id` another form of the one that is there."""
    fields = {
        "title": title,
        "body": body,
        "kind": kind,
        "tags": tags,
        "importance": importance,
        "facts": facts,
        "files": files,
        "anchors": anchors,
        "metadata": metadata,
        "obs_type": obs_type,
        "scope": scope,
        "occurred_at": occurred_at,
    }
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    if id:
        return _edit(library, _steps(id, given, state, supersedes), operation_id)
    if state not in (None, "active"):
        raise BadRequest(f"A new note is active; pass the `id` of the one that is to be {state}.")
    title = given.pop("title", "")
    return library.store(title, **given, supersedes=supersedes, operation_id=operation_id)


#: what is changed of one note
Step = tuple[str | int, dict[str, Any]]


def _steps(
    node_id: str | int, changes: dict[str, Any], state: State | None, supersedes: Sequence[str | int]
) -> list[Step]:
    """An edit in steps. What is deleted is not changed as well: agents repeat the title."""
    steps: list[Step] = [(node_id, changes)] if changes and state != "deleted" else []
    if state:
        steps.append((node_id, {"state": state}))
    steps += [(other, {"superseded_by": node_id}) for other in supersedes]
    if not steps:
        raise BadRequest(f"Say what is to be changed of the note {str(node_id)[:80]}: a field, or its state.")
    return steps


def _edit(library: Library, steps: Sequence[Step], operation_id: str) -> dict[str, Any]:
    """Each step has a number of its own, so that all can be asked for again together."""
    told: list[dict[str, Any]] = []
    for at, (reference, step) in enumerate(steps):
        number = f"{operation_id}.{at}" if operation_id else ""
        told.append(library.edit(reference, **step, operation_id=number))
    return told[0] | {"message": " ".join(one["message"] for one in told)}


def _search(
    library: Library,
    *,
    query: str,
    limit: int = 10,
    kind: str = "",
    tags: tuple[str, ...] = (),
    as_of: float | str = 0,
    include: tuple[str, ...] = (),
) -> dict[str, Any]:
    found = library.search(query, limit=limit, kind=kind, tags=tags, as_of=as_of, include=include)
    return {"results": found}


def _recall(
    library: Library,
    *,
    query: str,
    limit: int = 10,
    alpha: float = 0.7,
    kind: str = "",
    as_of: float | str = 0,
    include: tuple[str, ...] = (),
    explain: bool = False,
) -> dict[str, Any]:
    return {
        "results": library.recall(
            query, limit=limit, alpha=alpha, kind=kind, as_of=as_of, include=include, explain=explain
        )
    }


def _timeline(
    library: Library,
    *,
    anchor: str | int = "",
    query: str = "",
    before: int = 10,
    after: int = 10,
    since: float | str = 0,
    until: float | str = 0,
    kind: str = "",
    tags: tuple[str, ...] = (),
    limit: int = 20,
    offset: int = 0,
    newest_first: bool = False,
) -> dict[str, Any]:
    return library.timeline(
        anchor,
        query=query,
        before=before,
        after=after,
        since=since,
        until=until,
        kind=kind,
        tags=tags,
        limit=limit,
        offset=offset,
        newest_first=newest_first,
    )


def _undo(library: Library, *, undone: str = "", operation_id: str = "") -> dict[str, Any]:
    return library.undo(undone, operation_id=operation_id)


def _briefing(
    library: Library, *, agent_id: str = "default", compact: bool = False, tokens: int = TOKENS
) -> dict[str, Any]:
    return library.briefing(agent_id, compact=compact, tokens=tokens)


def _traverse(
    library: Library, *, node_id: str | int, depth: int = 2, direction: Direction = "both"
) -> dict[str, Any]:
    return library.traverse(node_id, depth=depth, direction=direction)


def _relate(
    library: Library,
    *,
    from_id: str | int,
    to_id: str | int,
    relation: str = "relates-to",
    operation_id: str = "",
) -> dict[str, Any]:
    return library.relate(from_id, to_id, relation, operation_id=operation_id)


def _node(library: Library, *, node_id: str | int) -> dict[str, Any]:
    return library.node(node_id)


def _stats(library: Library) -> dict[str, Any]:
    return library.stats()


def _forget(library: Library, *, node_id: str | int, operation_id: str = "") -> dict[str, Any]:
    return library.forget(node_id, operation_id=operation_id)


def _changes(library: Library, *, after: int = -1) -> dict[str, Any]:
    return library.changes(after)


def _erase(
    library: Library, *, node_ids: tuple[str | int, ...], back_ups: bool = False, operation_id: str = ""
) -> Slices:
    """Under its number or not: what is gone stays gone."""
    del operation_id
    return library.erase(node_ids, back_ups=back_ups)


def _import(library: Library, *, file: str, trusted: bool = False, operation_id: str = "") -> Slices:
    """Under its number or not: a record that is there is not stored again."""
    del operation_id
    return library.import_file(file, trusted=trusted)


def _export(library: Library, *, file: str) -> Slices:
    return library.export_file(file)


def _doctor(library: Library, *, mend: bool = True) -> Slices:
    return library.doctor(mend=mend)


def _operation(name: str, function: Function, *, writes: bool, people: bool = False) -> Operation:
    hints = get_type_hints(function)
    fields: list[Any] = []
    for argument, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if argument == _OPERATION_ID:
            continue
        has_default = parameter.default is not inspect.Parameter.empty
        kind = hints[argument]
        fields.append((argument, kind, parameter.default) if has_default else (argument, kind))
    fields.append(("project", str, ""))
    arguments = msgspec.defstruct(f"{name}_arguments", fields, frozen=True, forbid_unknown_fields=True)
    return Operation(name, writes, function, arguments, people)


#: every operation there is, by its name on the wire
OPERATIONS: Mapping[str, Operation] = {
    one.name: one
    for one in (
        _operation("store", _store, writes=True),
        _operation("search", _search, writes=False),
        _operation("recall", _recall, writes=False),
        _operation("timeline", _timeline, writes=False),
        _operation("briefing", _briefing, writes=False),
        _operation("traverse", _traverse, writes=False),
        _operation("relate", _relate, writes=True),
        _operation("node", _node, writes=False),
        _operation("stats", _stats, writes=False),
        _operation("changes", _changes, writes=False),
        _operation("forget", _forget, writes=True),
        _operation("undo", _undo, writes=True),
        _operation("erase", _erase, writes=True, people=True),
        _operation("import", _import, writes=True, people=True),
        _operation("export", _export, writes=False, people=True),
        _operation("doctor", _doctor, writes=False, people=True),
    )
}
