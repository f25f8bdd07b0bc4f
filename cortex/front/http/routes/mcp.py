"""The routes of MCP over HTTP. The SDK is imported with the first request: a server for the page
and the API alone does without it (35 MB).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from starlette.routing import Route

from cortex.front.http.access.gate import Receive, Scope, Send
from cortex.front.http.projects import Projects

if TYPE_CHECKING:
    from cortex.front.http.routes.mcp_transports import Transports


class McpRoutes:
    """Use it in one event loop."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._transports: Transports | None = None

    def all(self) -> list[Route]:
        return [
            Route("/mcp", _Endpoint(self, "streamable"), methods=["GET", "POST", "DELETE"]),
            Route("/sse", _Endpoint(self, "stream"), methods=["GET"]),
            Route("/message", _Endpoint(self, "message"), methods=["POST"]),
        ]

    async def transports(self) -> Transports:
        if self._transports is None:
            loaded = await asyncio.to_thread(_load)
            # another request may have been faster
            self._transports = self._transports or loaded(self._projects)
        return self._transports


def _load() -> type[Transports]:
    from cortex.front.http.routes.mcp_transports import Transports

    return Transports


class _Endpoint:
    """One of the transports' ASGI applications as a route's endpoint."""

    def __init__(self, routes: McpRoutes, name: Literal["streamable", "stream", "message"]) -> None:
        self._routes, self._name = routes, name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await getattr(await self._routes.transports(), self._name)(scope, receive, send)
