"""The tools of observations, made from the rows of `cortex.terms.observations`.

Each is a function of this module, by its name.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from cortex.ask.query_context import QueryContext
from cortex.front.form import PLAIN, Form, Word
from cortex.front.text.memory import OBSERVATIONS
from cortex.front.tool import ToolFunction
from cortex.front.tools.memory.arguments import OperationId
from cortex.front.tools.memory.fence import fenced, unfenced
from cortex.front.tools.memory.place_checks import check_observations
from cortex.memory.observations.bounds import bound_answer, size_of
from cortex.terms.observations import PREFIX, REQUIRED, ROWS, fields_of, read_bounds

#: fields with stored text, which is fenced: a model could take it for instructions
_TEXTS = ("content", "narrative", "snippet")
#: of the command of each tool, the required arguments and `query` are words
FORMS: dict[str, Form] = {
    name: replace(
        PLAIN,
        text=OBSERVATIONS,
        words=tuple(
            Word(argument, argument.replace("_", " "), optional=default is not REQUIRED)
            for argument, _, default in fields_of(name)
            if default is REQUIRED or argument == "query"
        ),
    )
    for name in ROWS
}
FORMS["timeline"] = replace(
    FORMS["timeline"],
    words=(Word("query", "query", optional=True, other="anchor_id", is_other=str.isdecimal),),
)


def __getattr__(name: str) -> ToolFunction:
    """Return the function of a tool. Raises AttributeError."""
    if name not in ROWS:
        raise AttributeError(name)
    return _tool(name)


def _tool(name: str) -> ToolFunction:
    row, keyword = ROWS[name], inspect.Parameter.KEYWORD_ONLY

    async def ask(context: QueryContext, *, operation_id: str = "", **arguments: Any) -> dict[str, Any]:
        written = {
            argument: unfenced(value) if isinstance(value, str) else value
            for argument, value in arguments.items()
            if value not in (None, "")
        }
        answer = await context.remember(f"{PREFIX}{name}", written, operation_id=operation_id)
        if name == "export_observations":  # its pages limit its size
            return answer
        answer = answer if row.writes else await check_observations(context, answer)
        # Memory already cut the answer to its token budget; the fields added since count as well.
        return fence_texts(
            bound_answer(
                name,
                answer,
                read_bounds(name, arguments),
                lambda cut_answer: size_of(fence_texts(cut_answer)),
            )
        )

    fields = fields_of(name) + ([("operation_id", OperationId, "")] if row.writes else [])
    ask.__name__, ask.__doc__ = name, row.text
    ask.__annotations__ = {argument: kind for argument, kind, _ in fields}
    parameters = [
        inspect.Parameter(
            argument, keyword, default=inspect.Parameter.empty if default is REQUIRED else default
        )
        for argument, _, default in fields
    ]
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ask.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
    return ask


def fence_texts(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer with the texts of its observations fenced, in nested rows too."""
    return {name: _fence_value(name, value) for name, value in answer.items()}


def _fence_value(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return fenced(value) if name in _TEXTS and value else value
    if isinstance(value, Mapping):
        return fence_texts(value)
    return [_fence_value(name, element) for element in value] if isinstance(value, Iterable) else value
