"""The routes under /v1 but events, and health and metrics: each makes one call and answers JSON."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, TypeVar

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from cortex import __version__
from cortex.ask.memory import Caller
from cortex.front.argument_forms import unwrap_arguments
from cortex.front.http.access.tokens import Bearer
from cortex.front.http.projects import ClientLink, Hosted, Projects
from cortex.front.http.replies import RETRY_S, json_response
from cortex.front.mcp.server import describe
from cortex.front.project_selection import PROJECT
from cortex.front.tool import Tool, make_tool
from cortex.front.tools import find_tool
from cortex.front.tools.code.context import code_context
from cortex.system.errors import BadRequest, NotFound

T = TypeVar("T")

#: not offered to agents; as a tool it is called with their deadline and checks. Its errors name
#: the route
SEARCH = replace(
    make_tool(code_context, "Search", reads=True),
    name="/v1/search",
    description="Search as cortex_search does, with a flat list of file, line number and excerpt.",
)


class Routes:
    """Handlers of the routes. Use it in one event loop."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def all(self) -> list[Route]:
        return [
            Route("/health", self.health),
            Route("/metrics", self.metrics),
            Route("/v1/search", self.search, methods=["POST"]),
            Route("/v1/indexStatus", self.index_status),
            Route("/v1/tools", self.tools),
            Route("/v1/tools/{name}", self.tool, methods=["POST"]),
        ]

    async def health(self, _request: Request) -> Response:
        """Answer 200, or 503 while no project of this server has an index."""
        served = (hosted.freshness for hosted in self._projects.values())
        ready = any(freshness.serves(freshness.current()) for freshness in served)
        answer = json_response({"alive": True, "ready": ready, "version": __version__})
        if not ready:
            answer.status_code, answer.headers["retry-after"] = 503, str(RETRY_S)
        return answer

    async def metrics(self, request: Request) -> Response:
        metrics = next(iter(self._projects.values())).metrics
        bearer: Bearer = request.scope["bearer"]
        text = metrics.text(self._projects.names(bearer), is_complete=not bearer.projects)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def search(self, request: Request) -> Response:
        arguments = await read_json_object(request)
        hosted = self._find(request, arguments.pop(PROJECT, ""))
        return await self._ask(request, hosted, SEARCH, arguments)

    async def index_status(self, request: Request) -> Response:
        hosted = self._find(request, request.query_params.get(PROJECT, ""))
        bearer: Bearer = request.scope["bearer"]
        # The path is for the user alone: a named token may be used on another machine.
        place = {} if bearer.name else {"repo": str(hosted.config.root)}
        return json_response(index_status(hosted) | place)

    async def tools(self, request: Request) -> Response:
        hosted = self._find(request, request.query_params.get(PROJECT, ""))
        names = self._projects.choices(hosted, request.scope["bearer"])
        return json_response(
            {"project": hosted.name, "tools": [describe(tool, names) for tool in hosted.tools.values()]}
        )

    async def tool(self, request: Request) -> Response:
        hosted = self._find(request, request.query_params.get(PROJECT, ""))
        name = request.path_params["name"]
        tool = find_tool(hosted.tools, name)
        if tool is None:
            raise NotFound(f"There is no tool {name!r}; there are: {', '.join(hosted.tools)}.")
        return await self._ask(request, hosted, tool, await read_json_object(request))

    def _find(self, request: Request, name: object) -> Hosted:
        bearer: Bearer = request.scope["bearer"]
        return self._projects.find(name, bearer)

    async def _ask(self, request: Request, hosted: Hosted, tool: Tool, arguments: dict[str, Any]) -> Response:
        arguments = dict(unwrap_arguments(tool.name, tool.schema, arguments) or {})
        bearer: Bearer = request.scope["bearer"]
        caller = Caller(agent=request.headers.get("user-agent", "http"), session=bearer.name)
        link = ClientLink(self._projects, hosted, bearer, caller)
        return json_response(await cancel_on_disconnect(request, link.call(tool, arguments)))


def index_status(hosted: Hosted) -> dict[str, Any]:
    """Return the indexed share of a project in percent: text, vectors and graph. Starts nothing."""
    freshness = hosted.freshness
    current = freshness.current()
    share = freshness.share(current)
    percent = 100 * share.done // share.total if share.total else 100 if current.number else 0
    vectors = sum(segment.vectors for segment in current.segments)
    with_vector = percent * vectors // current.rows if current.rows else percent
    pending = freshness.pending(current)
    return {
        "repo": hosted.name,
        "project": hosted.name,
        "zoekt_pct": percent,
        "faiss_pct": min(percent, with_vector),
        "text_pct": percent,
        "vector_pct": min(percent, with_vector),
        "graph_pct": percent if "graph" in current.tokens else 0,
        "files": share.total,
        "chunks": current.rows,
        "generation": current.number,
        "pending": len(pending),
    }


async def read_json_object(request: Request) -> dict[str, Any]:
    """Return the body. Raises BadRequest if it is no JSON object."""
    raw = await request.body()
    try:
        read = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not JSON: {error}.") from error
    if not isinstance(read, dict):
        raise BadRequest('The body must be a JSON object of the arguments, as {"query": "…"}.')
    return read


async def cancel_on_disconnect(request: Request, answer: Awaitable[T]) -> T:
    """Await `answer`; cancel it and raise ClientDisconnect when the client goes first."""
    asking = asyncio.ensure_future(answer)
    tasks: list[asyncio.Future[Any]] = [asking, asyncio.ensure_future(_wait_disconnect(request))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            raise ClientDisconnect
        return asking.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _wait_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
