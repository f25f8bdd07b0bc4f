"""The MCP server: handlers of all requests, and errors.

Its transport over standard input and output is in cortex.front.mcp.stdio.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from cortex import __version__
from cortex.ask.query_context import Audience
from cortex.front.argument_forms import read_object, unwrap_arguments
from cortex.front.audience import answering, audience_of, split_format
from cortex.front.mcp.clients import name_of, note_client
from cortex.front.mcp.completion import complete
from cortex.front.mcp.errors import INVALID_PARAMS, explain, is_for_the_model
from cortex.front.mcp.logs import serve_logs
from cortex.front.mcp.progress import reporting_progress
from cortex.front.mcp.project import ProjectNames, ProjectRouter, ToolCaller
from cortex.front.mcp.prompts import get_prompt, list_prompts
from cortex.front.mcp.resources import list_resources, list_templates, read_resource
from cortex.front.open_projects import schema_with_projects
from cortex.front.text import render
from cortex.front.tool import Tool
from cortex.front.tools import find_tool, instruct, offer
from cortex.front.tools.agent import shorten
from cortex.system.errors import CortexError

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

    from cortex.front.mcp.updates import Updates


def make_server(
    tools: Mapping[str, Tool],
    project: ProjectRouter,
    updates: Updates | None = None,
    *,
    alone: bool = True,
    project_names: ProjectNames | None = None,
    audience: Audience | None = None,
    on_roots: Callable[[Any, Any], Awaitable[None]] | None = None,
) -> Server:
    """Make the MCP server for `tools`.

    Without a project every tool answers with the setting to make. `updates` notifies subscribers of
    changed resources. `alone`: the server has one client, which may get the whole log of this
    process. `project_names`: the projects that a request may name. `audience`: that of all clients;
    None: that of each client's name. `on_roots`: handles the notification of changed roots.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    #: audience → (names of projects, the list for them)
    cached: dict[Audience, tuple[Sequence[str], types.ListToolsResult]] = {}

    async def list_tools(context: Any, _params: Any) -> types.ListToolsResult:
        names = tuple(await project_names.names(context)) if project_names is not None else ()
        reader = audience or audience_of(name_of(context))
        if reader not in cached or cached[reader][0] != names:
            listed = {"tools": list_for(tools, names, reader)}
            cached[reader] = (names, types.ListToolsResult.model_validate(listed, by_name=False))
        return cached[reader][1]

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = find_tool(tools, params.name)
        reader = audience or audience_of(name_of(context))
        if tool is None:
            tool_names = ", ".join(offer(tools, reader))
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name!r}; there are: {tool_names}.")
        with _protocol_errors(params.name):
            link = await project.reach(context)
            tell = context.session.report_progress if "progress_token" in (context.meta or {}) else None
            async with reporting_progress(link.freshness, tell):
                text, wrong = await run_tool(link, tool, params.arguments, reader)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=wrong)

    server: Server = Server(
        "cortex",
        version=__version__,
        title="Cortex",
        instructions=instruct(tools, audience or "program"),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **_offers(project, audience, memory="cortex_store" in tools),
        **(updates.handlers() if updates is not None else {}),
    )
    serve_logs(server, alone=alone)
    # The SDK compares headers of the newest protocol with the schema; without this function it
    # would list all tools for it.
    server.get_tool_input_schema = lambda name: tool.schema if (tool := find_tool(tools, name)) else None
    server.middleware.clear()  # traces, for which there is no collector
    server.middleware.append(_read_arguments)
    if on_roots is not None:
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, on_roots
        )
    if not alone:
        server.middleware.append(note_client)
    if audience is None:
        server.middleware.append(partial(_instruct_agent, instruct(tools, "agent")))
    return server


async def _read_arguments(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Read arguments that come as a JSON text: a middleware, as the SDK would refuse them."""
    from mcp.shared.exceptions import MCPError

    params = ctx.params
    if ctx.method == "tools/call" and isinstance(params, Mapping):
        arguments = params.get("arguments")
        if arguments is not None and not isinstance(arguments, Mapping):
            arguments = read_object(arguments)
            if not isinstance(arguments, Mapping):
                raise MCPError(INVALID_PARAMS, '`arguments` must be a JSON object, as {"query": "…"}.')
            ctx = replace(ctx, params={**params, "arguments": arguments})
    return await call_next(ctx)


async def _instruct_agent(text: str, context: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Replace the instructions in an answer to an agent by `text`. A middleware of the SDK."""
    result = await call_next(context)
    if isinstance(result, dict) and "instructions" in result and audience_of(name_of(context)) == "agent":
        result = result | {"instructions": text}
    return result


def _offers(project: ProjectRouter, audience: Audience | None, *, memory: bool) -> dict[str, Any]:
    """Return the handlers of resources, prompts and completion; `audience` as in make_server."""
    import mcp_types as types

    async def resources(_context: Any, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate(list_resources(memory=memory), by_name=False)

    async def templates(_context: Any, _params: Any) -> types.ListResourceTemplatesResult:
        answer = list_templates(memory=memory)
        return types.ListResourceTemplatesResult.model_validate(answer, by_name=False)

    async def read(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        with _protocol_errors(params.uri, {"uri": params.uri}):
            return await read_resource(await project.reach(context), params.uri)

    async def prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate(list_prompts(), by_name=False)

    async def prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        with _protocol_errors(params.name):
            return get_prompt(params.name, params.arguments, audience or audience_of(name_of(context)))

    async def completion(context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        with _protocol_errors(params.argument.name):
            return await complete(await project.reach(context), params)

    return {
        "on_list_resources": resources,
        "on_list_resource_templates": templates,
        "on_read_resource": read,
        "on_list_prompts": prompts,
        "on_get_prompt": prompt,
        "on_completion": completion,
    }


async def run_tool(
    link: ToolCaller, tool: Tool, arguments: Mapping[str, Any] | None, audience: Audience = "program"
) -> tuple[str, bool]:
    """Return (text of the answer, whether it is an error for the model to read): text for an agent,
    JSON for a program, unless `format` in the arguments overrides it.

    Raises all other errors of the tool.
    """
    try:
        arguments = unwrap_arguments(tool.name, tool.schema, arguments)
        own_arguments, audience = split_format(tool, arguments, audience)
        with answering(audience):
            answer = await link.call(tool, own_arguments)
    except CortexError as error:
        if not is_for_the_model(error):
            raise
        return str(error), True
    raw = orjson.dumps(answer)
    if audience == "program":
        return raw.decode(), False
    # Chunks in an answer are raw fragments, without a value until they are read.
    return render(tool.name, orjson.loads(raw), arguments=own_arguments), False


def list_for(tools: Mapping[str, Tool], names: Sequence[str], audience: Audience) -> list[dict[str, Any]]:
    """Return the tools of tools/list for an audience; `names`: see `describe`."""
    return [describe(tool, names, audience) for tool in offer(tools, audience).values()]


def describe(tool: Tool, names: Sequence[str] = (), audience: Audience = "program") -> dict[str, Any]:
    """Return the tool as in tools/list; `names`: projects that a call may name, if there are
    several. Agents get the short form of cortex.front.tools.agent.
    """
    listed = shorten(tool) if audience == "agent" else tool
    return {
        "annotations": {
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.reads,
            "openWorldHint": False,
            "readOnlyHint": tool.reads,
        },
        "description": listed.description,
        "inputSchema": schema_with_projects(listed, names),
        "name": tool.name,
        "title": tool.title,
    }


@contextlib.contextmanager
def _protocol_errors(what: str, data: dict[str, Any] | None = None) -> Iterator[None]:
    """Convert errors to JSON-RPC errors with `data`; `what` names the request in the log."""
    from mcp.shared.exceptions import MCPError

    try:
        yield
    except Exception as error:
        raise MCPError(*explain(error, what), data) from error
