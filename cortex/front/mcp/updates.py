"""Notifications of changed resources of memory, for subscribers of both protocol generations.

Other processes write too, so the worker is polled for changes, while there are subscribers.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from cortex.ask.query_context import QueryContext
from cortex.front.mcp.clients import client_of, on_disconnect
from cortex.front.mcp.resources import NODE, STATS
from cortex.front.tool import make_tool
from cortex.system.errors import BadRequest, CortexError

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from cortex.front.mcp.project import ProjectRouter

log = logging.getLogger(__name__)

#: seconds between two polls
LOOK_S = 1.0


async def memory_changes(context: QueryContext, *, after: int = -1) -> dict[str, Any]:
    """Return the notes changed since the change number `after`; for -1 only the last number."""
    return await context.remember("changes", {"after": after})


#: not offered to agents; as a tool it is called with their deadline and checks
CHANGES = make_tool(memory_changes, "Say what changed", reads=True, asks="memory")


class Updates:
    """The subscriptions of a server's clients. Use it in one event loop."""

    def __init__(self, project: ProjectRouter) -> None:
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self._project = project
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus)
        #: for protocols of the handshake: resource → client → a subscribed session
        self._sessions: dict[str, dict[Connection, ServerSession]] = {}
        #: clients with a callback at their end
        self._clients: set[Connection] = set()
        #: for the newest protocol: resources of the open streams
        self._stream_uris: list[str] = []
        self._task: asyncio.Task[None] | None = None

    def handlers(self) -> dict[str, Any]:
        return {
            "on_subscribe_resource": self._subscribe,
            "on_unsubscribe_resource": self._unsubscribe,
            "on_subscriptions_listen": self._listen,
        }

    def close(self) -> None:
        """End the open streams and the polling."""
        self._streams.close()
        if self._task is not None:
            self._task.cancel()

    async def _subscribe(self, context: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        client = client_of(context)
        if client not in self._clients:
            self._clients.add(client)
            on_disconnect(client, self._forget)
        self._sessions.setdefault(str(params.uri), {})[client] = context.session
        try:
            await self._begin(context)
        except MCPError:
            self._drop(str(params.uri), client)
            raise
        return types.EmptyResult()

    async def _unsubscribe(self, context: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        import mcp_types as types

        self._drop(str(params.uri), client_of(context))
        return types.EmptyResult()

    async def _listen(
        self, context: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        self._stream_uris += uris
        try:
            if uris:
                await self._begin(context)
            return await self._streams(context, params)
        finally:
            for uri in uris:
                self._stream_uris.remove(uri)

    def _forget(self, client: Connection) -> None:
        """Remove all subscriptions of a client that has gone."""
        self._clients.discard(client)
        for uri in list(self._sessions):
            self._drop(uri, client)

    def _drop(self, uri: str, client: Connection) -> None:
        followers = self._sessions.get(uri, {})
        followers.pop(client, None)
        if not followers:
            self._sessions.pop(uri, None)

    async def _begin(self, context: ServerRequestContext) -> None:
        """Begin to poll for changes, unless that runs already.

        Raises MCPError for a client that may not use memory: it would see changes through another
        client's polling.
        """
        from mcp.shared.exceptions import MCPError
        from mcp_types import INVALID_PARAMS

        try:
            reached = await self._changes(context, -1)
        except BadRequest as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._follow(context, reached.get("reached", -1)))

    async def _follow(self, context: ServerRequestContext, reached: int) -> None:
        while self._sessions or self._stream_uris:
            await asyncio.sleep(LOOK_S)
            changes = await self._changes(context, reached)
            if changes and changes["reached"] > reached >= 0:
                names = {str(name) for node in changes["nodes"] for name in (node["id"], node["number"])}
                await self._tell({STATS, *(f"{NODE}{name}" for name in names)})
            reached = changes.get("reached", reached)

    async def _changes(self, context: ServerRequestContext, after: int) -> dict[str, Any]:
        """Return the changes since; {} while memory does not answer. Raises BadRequest."""
        try:
            link = await self._project.reach(context)
            return await link.call(CHANGES, {"after": after})
        except BadRequest:
            raise
        except CortexError as error:
            log.info("changes of memory are unknown: %s", error)
            return {}

    async def _tell(self, uris: set[str]) -> None:
        from mcp.server.subscriptions import ResourceUpdated

        for uri in uris & set(self._stream_uris):
            await self._bus.publish(ResourceUpdated(uri))
        for uri in uris & set(self._sessions):
            for client, session in list(self._sessions[uri].items()):
                try:
                    await session.send_resource_updated(uri)
                except Exception:  # the client has gone
                    self._drop(uri, client)
