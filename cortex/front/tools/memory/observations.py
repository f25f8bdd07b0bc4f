"""The tools of observations, made from the rows of `cortex.terms.observations`: each is a function
of this module by its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from cortex.ask.query_context import QueryContext
from cortex.front.tool import ToolFunction
from cortex.front.tools.memory.arguments import OperationId
from cortex.front.tools.memory.fence import fenced, unfenced
from cortex.front.tools.memory.place_checks import observed
from cortex.memory.observations.bounds import bound_answer, size_of
from cortex.terms.observations import PREFIX, REQUIRED, ROWS, fields_of, read_bounds

#: what holds a text that somebody may take for an instruction
_TEXTS = ("content", "narrative", "snippet")


def __getattr__(name: str) -> ToolFunction:
    """The function of a tool. Raises AttributeError."""
    if name not in ROWS:
        raise AttributeError(name)
    return _tool(name)


def _tool(name: str) -> ToolFunction:
    row, keyword = ROWS[name], inspect.Parameter.KEYWORD_ONLY

    async def ask(context: QueryContext, *, operation_id: str = "", **given: Any) -> dict[str, Any]:
        told = {argument: _written(value) for argument, value in given.items() if value not in (None, "")}
        answer = await context.remember(f"{PREFIX}{name}", told, operation_id=operation_id, writes=row.writes)
        if name == "export_observations":  # which is cut where its pages end
            return answer
        answer = answer if row.writes else await observed(context, answer)
        # What was added since memory cut it to its tokens counts as well.
        return shown(bound_answer(name, answer, read_bounds(name, given), lambda one: size_of(shown(one))))

    fields = fields_of(name) + ([("operation_id", OperationId, "")] if row.writes else [])
    ask.__name__, ask.__doc__ = name, row.text
    ask.__annotations__ = {argument: kind for argument, kind, _ in fields}
    parameters = [
        inspect.Parameter(
            argument, keyword, default=inspect.Parameter.empty if default is REQUIRED else default
        )
        for argument, _, default in fields
    ]
    context = inspect.Parameter("asking", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ask.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
    return ask


def _written(value: Any) -> Any:
    """A text that was recalled comes back as it was written."""
    return unfenced(value) if isinstance(value, str) else value


def shown(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with the texts of its observations fenced, in rows and rows of rows."""
    return {name: _shown(name, value) for name, value in answer.items()}


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return fenced(value) if name in _TEXTS and value else value
    if isinstance(value, Mapping):
        return shown(value)
    return [_shown(name, one) for one in value] if isinstance(value, Iterable) else value
