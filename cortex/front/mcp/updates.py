"""Notifications of changed resources, for subscribers of both protocol generations: outlines of
files and folders, the counts of memory, and its notes.

Other processes write too, so index and memory are polled for changes, while there are subscribers.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import urllib.parse
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from cortex.ask.query_context import QueryContext
from cortex.front.mcp.clients import client_of, on_disconnect
from cortex.front.mcp.errors import explain
from cortex.front.mcp.resources import NODE, OUTLINE, STATS, read_outline, read_resource
from cortex.front.tool import make_tool
from cortex.system.errors import BadRequest, CortexError, NotFound, TooLarge

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from cortex.front.mcp.project import ProjectRouter, ToolCaller

log = logging.getLogger(__name__)

#: seconds between two polls
LOOK_S = 1.0
#: maximum of subscribed outlines: each is read again after every change of the index
OUTLINES_MAX = 64


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
        #: number of memory's last change; -1: unknown
        self._reached = -1
        #: outline → its state when it was last read; the index that all were read from
        self._outlines: dict[str, bytes] = {}
        self._index: object = None

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

        uri, client = str(params.uri), client_of(context)
        await self._check(context, [uri])
        if client not in self._clients:
            self._clients.add(client)
            on_disconnect(client, self._forget)
        self._sessions.setdefault(uri, {})[client] = context.session
        self._begin(context)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        import mcp_types as types

        self._drop(str(params.uri), client_of(context))
        return types.EmptyResult()

    async def _listen(
        self, context: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        await self._check(context, uris)
        self._stream_uris += uris
        try:
            if uris:
                self._begin(context)
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

    async def _check(self, context: ServerRequestContext, uris: Sequence[str]) -> None:
        """Read each resource, from whose state its changes count.

        Raises MCPError for a resource that is not there, and for one that the client may not read:
        it would see changes through another client's polling. While no worker answers, any may be
        there.
        """
        from mcp.shared.exceptions import MCPError

        for uri in uris:
            try:
                link = await self._project.reach(context)
                await self._note_state(link, uri)
            except (BadRequest, NotFound, TooLarge) as error:
                raise MCPError(*explain(error, uri), {"uri": uri}) from error
            except CortexError as error:
                log.info("%s is not known to be there: %s", uri, error)

    async def _note_state(self, link: ToolCaller, uri: str) -> None:
        """Note the state of a resource before its first change. Raises its errors."""
        if not uri.startswith(OUTLINE):
            await read_resource(link, uri)
            if self._reached < 0:
                self._reached = (await link.call(CHANGES, {"after": -1})).get("reached", -1)
            return
        if uri not in self._outlines and len(self._followed(OUTLINE)) >= OUTLINES_MAX:
            raise BadRequest(f"{OUTLINES_MAX} outlines are subscribed to; unsubscribe from some.")
        self._outlines.setdefault(uri, await self._outline_state(link, uri))

    def _begin(self, context: ServerRequestContext) -> None:
        """Begin to poll for changes, unless that runs already."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._follow(context))

    def _followed(self, prefix: str) -> Collection[str]:
        return {uri for uri in (*self._sessions, *self._stream_uris) if uri.startswith(prefix)}

    async def _follow(self, context: ServerRequestContext) -> None:
        while self._sessions or self._stream_uris:
            await asyncio.sleep(LOOK_S)
            try:
                link = await self._project.reach(context)
                await self._tell(await self._changed_outlines(link))
                if self._followed(STATS) or self._followed(NODE):
                    await self._tell(await self._changed_notes(link))
            except CortexError as error:
                log.info("changes are unknown: %s", error)
        self._reached = -1

    async def _changed_notes(self, link: ToolCaller) -> set[str]:
        reached = self._reached
        changes = await link.call(CHANGES, {"after": reached})
        self._reached = changes.get("reached", reached)
        if not self._reached > reached >= 0:
            return set()
        names = {str(name) for node in changes["nodes"] for name in (node["id"], node["number"])}
        return {STATS, *(f"{NODE}{name}" for name in names)}

    async def _changed_outlines(self, link: ToolCaller) -> set[str]:
        """Return the subscribed outlines that changed; reads them after changes of the index."""
        followed = self._followed(OUTLINE)
        self._outlines = {uri: state for uri, state in self._outlines.items() if uri in followed}
        index = (link.freshness, link.freshness.current().number)
        if not followed or index == self._index:
            return set()
        changed = set()
        for uri in followed:
            state = await self._outline_state(link, uri)
            if state != self._outlines.get(uri):
                self._outlines[uri] = state
                changed.add(uri)
        self._index = index
        return changed

    async def _outline_state(self, link: ToolCaller, uri: str) -> bytes:
        """Return a digest of an outline and of the time of its file; b"" for one that is gone.
        Raises NotFound for one that never was there.
        """
        path = urllib.parse.unquote(uri.removeprefix(OUTLINE))
        try:
            answer = await read_outline(link, path)
        except NotFound:
            if uri not in self._outlines:
                raise
            return b""
        saved = b"%d" % link.freshness.saved_ns(path)
        return hashlib.sha256(orjson.dumps(answer["results"]) + saved).digest()

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
