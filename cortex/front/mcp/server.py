"""MCP as a protocol: what each request is answered with, and which errors.

How its bytes travel is in cortex.front.mcp.stdio.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from cortex import __version__
from cortex.front.mcp.completion import complete
from cortex.front.mcp.logs import serve_logs
from cortex.front.mcp.progress import telling
from cortex.front.mcp.project import Project
from cortex.front.mcp.prompts import get_prompt, list_prompts
from cortex.front.mcp.resources import list_resources, list_templates, read_resource
from cortex.front.tool import Tool
from cortex.front.tools import instruct
from ipc.errors import BadQuery, BadRequest, CortexError, NotFound, TooLarge

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

    from cortex.front.mcp.updates import Updates

log = logging.getLogger(__name__)

#: JSON-RPC: the request is wrong; something of ours is
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


def make_server(tools: Mapping[str, Tool], project: Project, updates: Updates | None = None) -> Server:
    """The MCP server over `tools`. Without a project every tool answers with what to set. `updates`
    tells who subscribed to a resource when it changes.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    listed = types.ListToolsResult(tools=[describe(tool) for tool in tools.values()])

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            known = ", ".join(tools)
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name!r}; there are: {known}.")
        with _failing(params.name):
            try:
                link = await project.reach(context.session)
                async with telling(link.freshness, context):
                    text = orjson.dumps(await link.call(tool, params.arguments)).decode()
            except CortexError as error:
                if not is_for_the_model(error):
                    raise
                return types.CallToolResult(content=[_text(str(error))], is_error=True)
        return types.CallToolResult(content=[_text(text)])

    server: Server = Server(
        "cortex",
        version=__version__,
        title="Cortex",
        instructions=instruct(tools),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **_offers(project, memory="cortex_store" in tools),
        **(updates.handlers() if updates is not None else {}),
    )
    serve_logs(server)
    server.middleware.clear()  # traces for a collector that is never there
    return server


def _offers(project: Project, *, memory: bool) -> dict[str, Any]:
    """The handlers of what is no tool: resources, prompts, completion."""

    async def resources(_context: Any, _params: Any) -> types.ListResourcesResult:
        return list_resources(memory=memory)

    async def templates(_context: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return list_templates(memory=memory)

    async def read(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        with _failing(params.uri):
            return await read_resource(await project.reach(context.session), params.uri)

    async def prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
        return list_prompts()

    async def prompt(_context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        with _failing(params.name):
            return get_prompt(params.name, params.arguments)

    async def completion(context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        with _failing(params.argument.name):
            return await complete(await project.reach(context.session), params)

    return {
        "on_list_resources": resources,
        "on_list_resource_templates": templates,
        "on_read_resource": read,
        "on_list_prompts": prompts,
        "on_get_prompt": prompt,
        "on_completion": completion,
    }


def _text(text: str) -> types.TextContent:
    import mcp_types as types

    return types.TextContent(type="text", text=text)


def describe(tool: Tool) -> types.Tool:
    """The tool as a client sees it."""
    import mcp_types as types

    annotations = types.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=tool.destroys,
        idempotent_hint=tool.reads,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=annotations,
    )


@contextlib.contextmanager
def _failing(what: str) -> Iterator[None]:
    """Errors of ours as JSON-RPC errors; what nobody foresaw is logged."""
    from mcp.shared.exceptions import MCPError

    try:
        yield
    except CortexError as error:
        raise MCPError(code_of(error), str(error)) from error
    except Exception as error:
        log.exception("the request for %s failed", what)
        sentence = f"Cortex failed on this request ({error!r}); please report it."
        raise MCPError(INTERNAL_ERROR, sentence) from error


def is_for_the_model(error: CortexError) -> bool:
    """Whether a tool's answer holds the error (SEP-1303): other arguments would do, and the model
    has to read that. A query that cannot be used is a JSON-RPC error.
    """
    return isinstance(error, BadRequest | NotFound | TooLarge) and not isinstance(error, BadQuery)


def code_of(error: CortexError) -> int:
    """The JSON-RPC code: whose fault it is."""
    return INVALID_PARAMS if isinstance(error, BadRequest | NotFound | TooLarge) else INTERNAL_ERROR
