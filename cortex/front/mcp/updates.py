"""Who is told when a resource of memory changes: whoever subscribed, in either era's way.

Other windows write too, so the worker is asked for what changed since; only while anybody listens.
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

#: seconds between two looks for what others wrote
LOOK_S = 1.0


async def memory_changes(context: QueryContext, *, after: int = -1) -> dict[str, Any]:
    """Which notes changed since the change `after`; of -1 only how far memory is."""
    return await context.remember("changes", {"after": after})


#: no tool of agents: it is made one to be called as they are, with their deadline
CHANGES = make_tool(memory_changes, "Say what changed", reads=True, asks="memory")


class Updates:
    """Use it in one event loop."""

    def __init__(self, project: ProjectRouter) -> None:
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self._project = project
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus)
        #: of the handshake's era: resource → client → a session of it that wants to hear of it
        self._sessions: dict[str, dict[Connection, ServerSession]] = {}
        #: clients whose end is waited for
        self._clients: set[Connection] = set()
        #: of the newest era: resources of the open streams
        self._stream_uris: list[str] = []
        self._task: asyncio.Task[None] | None = None

    def handlers(self) -> dict[str, Any]:
        return {
            "on_subscribe_resource": self._subscribe,
            "on_unsubscribe_resource": self._unsubscribe,
            "on_subscriptions_listen": self._listen,
        }

    def close(self) -> None:
        """End what is still open: nobody reads any more."""
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
        """One that has gone follows nothing any more."""
        self._clients.discard(client)
        for uri in list(self._sessions):
            self._drop(uri, client)

    def _drop(self, uri: str, client: Connection) -> None:
        followers = self._sessions.get(uri, {})
        followers.pop(client, None)
        if not followers:
            self._sessions.pop(uri, None)

    async def _begin(self, context: ServerRequestContext) -> None:
        """Follow what changes from now on, unless that is done already. Raises MCPError for who may
        not ask memory: another's eyes would be theirs.
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
        """What changed since; nothing while memory does not answer. Raises BadRequest."""
        try:
            link = await self._project.reach(context)
            return await link.call(CHANGES, {"after": after})
        except BadRequest:
            raise
        except CortexError as error:
            log.info("what changed in memory is not known: %s", error)
            return {}

    async def _tell(self, uris: set[str]) -> None:
        from mcp.server.subscriptions import ResourceUpdated

        for uri in uris & set(self._stream_uris):
            await self._bus.publish(ResourceUpdated(uri))
        for uri in uris & set(self._sessions):
            for client, session in list(self._sessions[uri].items()):
                try:
                    await session.send_resource_updated(uri)
                except Exception:  # one that has gone is told nothing any more
                    self._drop(uri, client)
