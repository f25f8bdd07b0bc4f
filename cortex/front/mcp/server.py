"""MCP as a protocol: tools, instructions, progress and errors.

How its bytes travel is in cortex.front.mcp.stdio.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from cortex import __version__
from cortex.ask.freshness import Freshness, say_progress
from cortex.front.link import Link
from cortex.front.tool import Tool
from cortex.front.tools import INSTRUCTIONS
from ipc.errors import BadRequest, CortexError, NotFound, TooLarge, Unavailable

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

log = logging.getLogger(__name__)

#: JSON-RPC: the arguments are wrong; something of ours is
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
#: seconds between two looks at how far indexing is, for a client that asked to be told
PROGRESS_S = 0.2


def make_server(tools: Mapping[str, Tool], link: Link | None, problem: str = "") -> Server:
    """The MCP server over `tools`. Without a link every tool answers with `problem`."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    listed = types.ListToolsResult(tools=[describe(tool) for tool in tools.values()])

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            async with _progress(link, context):
                text = await call(tools, link, problem, params.name, params.arguments)
        except CortexError as error:
            raise MCPError(code_of(error), str(error)) from error
        except Exception as error:
            log.exception("the call of %s failed", params.name)
            raise MCPError(
                INTERNAL_ERROR, f"Cortex failed on this call ({error!r}); please report it."
            ) from error
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    server: Server = Server(
        "cortex",
        version=__version__,
        title="Cortex",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # traces for a collector that is never there
    return server


def describe(tool: Tool) -> types.Tool:
    """The tool as a client sees it.

    What writes is announced as able to destroy, for it may change what is stored.
    """
    import mcp_types as types

    annotations = types.ToolAnnotations(
        read_only_hint=tool.reads,
        destructive_hint=not tool.reads,
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


@contextlib.asynccontextmanager
async def _progress(link: Link | None, context: Any) -> AsyncIterator[None]:
    """Meanwhile tell the client how far indexing is, if its request has a progress token."""
    if link is None or "progress_token" not in (context.meta or {}):
        yield
        return
    task = asyncio.create_task(tell_progress(link.freshness, context.session.report_progress))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def tell_progress(freshness: Freshness, tell: Callable[[float, float, str], Awaitable[None]]) -> None:
    """Report (files done, files to do, sentence) for as long as the project is being indexed; never
    a smaller number.
    """
    told = -1
    while True:
        progress = freshness.progress()
        if progress.indexing and progress.total and progress.done > told:
            told = progress.done
            await tell(told, progress.total, say_progress(progress))
        await asyncio.sleep(PROGRESS_S)


async def call(
    tools: Mapping[str, Tool], link: Link | None, problem: str, name: str, arguments: Mapping[str, Any] | None
) -> str:
    """The answer as one JSON text. Raises CortexError."""
    tool = tools.get(name)
    if tool is None:
        raise BadRequest(f"There is no tool {name!r}; there are: {', '.join(tools)}.")
    if link is None:
        raise Unavailable(problem)
    return orjson.dumps(await link.call(tool, arguments)).decode()


def code_of(error: CortexError) -> int:
    """The JSON-RPC code: whose fault it is."""
    return INVALID_PARAMS if isinstance(error, BadRequest | NotFound | TooLarge) else INTERNAL_ERROR
