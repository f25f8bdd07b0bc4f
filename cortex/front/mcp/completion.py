"""Completion of paths and symbols in prompts and resources, answered by the graph worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from cortex.ask.query_context import QueryContext
from cortex.ask.structure import names
from cortex.front.mcp.prompts import PROMPTS
from cortex.front.mcp.resources import TEMPLATE
from cortex.front.tool import make_tool
from cortex.system.errors import CortexError
from ipc.messages import NameSearch

if TYPE_CHECKING:
    import mcp_types as types

    from cortex.front.mcp.project import ToolCaller

#: values of one completion; the protocol allows no more
VALUES_MAX = 100


async def complete_name(
    context: QueryContext, *, prefix: str = "", kind: Literal["path", "symbol"] = "path"
) -> dict[str, Any]:
    """Return the paths or symbols that begin with `prefix`."""
    return await names(context, NameSearch(prefix, kind, VALUES_MAX))


#: not offered to agents; as a tool it is called with their deadline and checks
COMPLETE = make_tool(complete_name, "Complete a name", reads=True)


async def complete(link: ToolCaller, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Return the completions; none without any, and after an error: a person is typing."""
    import mcp_types as types

    kind = kind_of(params)
    if not kind:
        return types.CompleteResult(completion=types.Completion(values=[]))
    try:
        answer = await link.call(COMPLETE, {"prefix": params.argument.value, "kind": kind})
    except CortexError:
        return types.CompleteResult(completion=types.Completion(values=[]))
    values, total = list(answer["values"]), answer["total"]
    return types.CompleteResult(
        completion=types.Completion(values=values, total=total, has_more=total > len(values))
    )


def kind_of(params: types.CompleteRequestParams) -> str:
    """Return the kind of names that complete the argument: "path", "symbol" or "" for none."""
    if params.ref.type == "ref/resource":
        return "path" if params.ref.uri == TEMPLATE and params.argument.name == "path" else ""
    prompt = PROMPTS.get(params.ref.name)
    arguments = prompt.arguments if prompt else ()
    return next((argument.completes for argument in arguments if argument.name == params.argument.name), "")
