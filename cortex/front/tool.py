"""Tools made from typed async functions: JSON schema, check of arguments, call.

The tools themselves are in `tools/`.
"""

import inspect
import math
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from cortex.ask.query_context import QueryContext
from cortex.front.argument_forms import coerce_arguments, locate_arguments
from cortex.front.empty_answers import ask_settled, name_filter, name_left_out
from cortex.front.form import PLAIN, Form
from cortex.front.subfolder import Subfolder
from cortex.system.errors import BadQuery, BadRequest, CortexError
from cortex.terms.arguments import parse_fault, struct_of

ToolFunction = Callable[..., Awaitable[dict[str, Any]]]

#: a run without spaces that is too long to read
_ENDLESS = re.compile(r"\S{300,}")
#: a call without its query counts as one with an empty query
_NO_QUERY = "Object missing required field `query`"
_SENTENCES = {
    "missing": "The argument `{name}` is required{at}.",
    "unknown": "There is no argument `{name}`{at}.",
}


#: set of workers that a call asks
Sets = Literal["code", "memory", "both"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. Agents read `description`. `reads`: a call changes nothing; `destroys`: it may change
    or delete stored data, and not only add to it.

    `asks`: arguments → the set that a call asks; a call to memory alone does not wait for an index.
    """

    name: str
    title: str
    description: str
    function: ToolFunction
    arguments: type[msgspec.Struct]
    schema: dict[str, Any]
    reads: bool
    destroys: bool
    asks: Callable[[Mapping[str, Any]], Sets]
    form: Form = PLAIN

    def check(self, arguments: Mapping[str, Any] | None) -> msgspec.Struct:
        """Return the arguments as a struct. Raises BadRequest, and BadQuery without the query."""
        supplied = {key: value for key, value in (arguments or {}).items() if value is not None}
        supplied = coerce_arguments(self.schema, supplied)
        try:
            # Not strict: agents send "5" and 5.0 for 5.
            checked = msgspec.convert(supplied, self.arguments, strict=False)
        except msgspec.ValidationError as error:
            kind = BadQuery if str(error) == _NO_QUERY else BadRequest
            raise kind(self._explain(str(error))) from error
        for name, value in msgspec.structs.asdict(checked).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise BadRequest(f"The argument `{name}` must be a finite number.")
        return checked

    async def call(self, context: QueryContext, arguments: msgspec.Struct) -> dict[str, Any]:
        """Return the answer, for orjson to serialise: chunks in it are raw fragments.

        If a filter left it empty, its "suggestion" names the filter.
        """
        values, subfolder = msgspec.structs.asdict(arguments), Subfolder.of(context)
        of_notes = self.asks(values) == "memory"
        if subfolder is not None:
            values |= subfolder.to_project(self.name, self._free_arguments(values), of_notes=of_notes)
        if of_notes:
            try:
                answer = await self.function(context, **values)
            except CortexError as error:
                raise type(error)(_shorten(str(error))) from error
            return subfolder.to_folder(answer, of_notes=True) if subfolder is not None else answer
        try:
            free = self._free_arguments(values)
            values |= locate_arguments(free, str(context.config.root), context.freshness.listed)
            first_answer = await ask_settled(context, lambda: self.function(context, **values), values)
        except CortexError as error:
            raise type(error)(_shorten(str(error))) from error
        answer = await name_filter(
            lambda other: self.function(context, **other), values, first_answer, context.left_s
        )
        answer = name_left_out(context, values, answer)
        if subfolder is not None and values.get("paths") == ():
            whole_project = replace(context, config=replace(context.config, subfolder=""))
            answer = await subfolder.suggest_elsewhere(
                answer,
                lambda: self.function(whole_project, **values),
                context.left_s(),
                explained=answer is not first_answer,
            )
        if suggestion := answer.get("suggestion"):
            answer["suggestion"] = _shorten(suggestion)
        return subfolder.to_folder(answer) if subfolder is not None else answer

    def _free_arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without an enum. `scope` is an enum but in cortex_graph: a glob."""
        properties = self.schema["properties"]
        return {name: value for name, value in values.items() if "enum" not in properties[name]}

    def _explain(self, problem: str) -> str:
        fault = parse_fault(problem)
        if sentence := _SENTENCES.get(fault.what):
            at = f" in `{fault.path}`" if fault.path else ""
            names = ", ".join(self.schema["properties"])
            return f"{sentence.format(name=fault.name, at=at)} {self.name} takes: {names}."
        why, path = fault.why, fault.path
        if why.startswith("invalid enum value") and (allowed := self._allowed(path)):
            why = f"{why}; it takes {allowed}"
        subject = f"The argument `{path}`" if path else "The arguments"
        return f"{subject} cannot be used: {why}."

    def _allowed(self, path: str) -> str:
        field: dict[str, Any] = self.schema["properties"].get(path.partition("[")[0].strip("."), {})
        field = field.get("items", field)
        return ", ".join(map(str, field.get("enum", ())))


def make_tool(
    function: ToolFunction,
    title: str,
    *,
    reads: bool,
    destroys: bool | None = None,
    asks: Sets | Callable[[Mapping[str, Any]], Sets] = "code",
    omitted: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    description: str = "",
    stated_defaults: Mapping[str, Any] | None = None,
    form: Form = PLAIN,
) -> Tool:
    """Make the tool of `async (context, *, argument: Annotated[type, Meta(description)] = default,
    …) -> answer`.

    `destroys` defaults to `not reads`. One function may be several tools: without the arguments in
    `omitted`, with other `defaults` and another `description`. `stated_defaults`: defaults for the
    schema where the function's are empty, so that it sees whether the argument was passed.
    """
    name = function.__name__
    arguments = struct_of(function, name, excluded=omitted, defaults=defaults)
    schema = _schema(arguments)
    for argument, value in (stated_defaults or {}).items():
        schema["properties"][argument]["default"] = value
    return Tool(
        name=name,
        title=title,
        description=description or inspect.cleandoc(function.__doc__ or ""),
        function=function,
        arguments=arguments,
        schema=schema,
        reads=reads,
        destroys=not reads if destroys is None else destroys,
        asks=asks if callable(asks) else lambda _arguments: asks,
        form=form,
    )


def _shorten(sentence: str) -> str:
    """Cut runs of 300 or more characters without a space to 80: errors quote queries."""
    return _ENDLESS.sub(lambda match: f"{match[0][:80]}…", sentence)


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON schema without references: many clients do not follow $ref."""
    schema = msgspec.json.schema(arguments)
    body: dict[str, Any] = dict(schema["$defs"][schema["$ref"].rpartition("/")[2]])
    body.pop("title", None)
    if not body.get("required"):
        body.pop("required", None)
    body["properties"] = {name: _simplify_field(value) for name, value in body["properties"].items()}
    return body


def _simplify_field(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field without the alternative null and without a default that is null,
    false, 0 or empty; an enum gets its type.
    """
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    if "anyOf" in field and len(kinds) == 1:
        field = kinds[0] | {key: value for key, value in field.items() if key != "anyOf"}
    if "items" in field:
        field = field | {"items": _simplify_field(field["items"])}
    if "enum" in field:
        field = {"type": "string"} | field
    return {key: value for key, value in field.items() if key != "default" or value}
